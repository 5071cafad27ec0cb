vcl 4.1;

# Varnish in front of Nuthatch, with tags (Debian: packages varnish and varnish-modules). Nuthatch needs
# server.cacheTags: xkey, and purge: [{ id: varnish, type: varnish, url: "http://127.0.0.1:6081" }].

import std;
import xkey;

backend nuthatch {
    .host = "127.0.0.1";
    .port = "8080";
}

acl purgers {
    "127.0.0.1";
    "::1";
}

sub vcl_recv {
    if (req.method == "PURGE") {
        if (client.ip !~ purgers) {
            return (synth(403));
        }
        # 200 also if no copy has the tags: nothing is left to purge.
        if (req.http.xkey-softpurge) {
            set req.http.purged = xkey.softpurge(req.http.xkey-softpurge);
            return (synth(200));
        }
        if (req.http.xkey-purge) {
            set req.http.purged = xkey.purge(req.http.xkey-purge);
            return (synth(200));
        }
        return (synth(400));
    }
    # Answers of the management interface are never cached.
    if (req.url ~ "^/(rest|api|masstruncate|diskquota)") {
        return (pass);
    }
}

sub vcl_backend_response {
    # The lifetime for shared caches (RFC 9213) is longer than the one for browsers.
    if (beresp.http.CDN-Cache-Control ~ "max-age=[0-9]+") {
        set beresp.ttl = std.duration(
            regsub(beresp.http.CDN-Cache-Control, "^.*max-age=([0-9]+).*$", "\1s"), 0s);
    }
    # A copy that was purged softly is served for this time while it is renewed.
    set beresp.grace = 10s;
}

sub vcl_deliver {
    unset resp.http.xkey;
    unset resp.http.CDN-Cache-Control;
}
