#!/bin/sh
# Makes the secrets of compose.yaml and compose.cluster.yaml in secrets/, each once, and a certificate for localhost.
# Usage: ./secrets.sh [NAME]   NAME: the name of the server in its certificate (localhost)
set -eu
cd "$(dirname "$0")"
name=${1:-localhost}
mkdir -p secrets
for secret in admin_password metrics_password grafana_password database_password cluster_secret s3_secret_key; do
  # Letters and digits: some of them are parts of addresses.
  [ -s "secrets/$secret" ] || openssl rand -hex 24 > "secrets/$secret"
done
[ -s secrets/s3_access_key ] || printf 'nuthatch\n' > secrets/s3_access_key
[ -s secrets/tls.key ] || openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -days 365 \
  -subj "/CN=$name" -addext "subjectAltName=DNS:$name,DNS:localhost,IP:127.0.0.1" \
  -keyout secrets/tls.key -out secrets/tls.crt 2>/dev/null
# Containers read the files with other accounts, so the files are readable for all; the directory keeps other accounts of
# this machine out.
chmod 700 secrets
chmod 644 secrets/*
