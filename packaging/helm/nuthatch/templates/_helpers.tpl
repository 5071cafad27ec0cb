{{- define "nuthatch.name" -}}
{{- default .Chart.Name .Values.nameOverride | trunc 63 | trimSuffix "-" }}
{{- end }}

{{- define "nuthatch.fullname" -}}
{{- if .Values.fullnameOverride }}
{{- .Values.fullnameOverride | trunc 50 | trimSuffix "-" }}
{{- else if contains (include "nuthatch.name" .) .Release.Name }}
{{- .Release.Name | trunc 50 | trimSuffix "-" }}
{{- else }}
{{- printf "%s-%s" .Release.Name (include "nuthatch.name" .) | trunc 50 | trimSuffix "-" }}
{{- end }}
{{- end }}

{{- define "nuthatch.selector" -}}
app.kubernetes.io/name: {{ include "nuthatch.name" . }}
app.kubernetes.io/instance: {{ .Release.Name }}
{{- end }}

{{- define "nuthatch.labels" -}}
{{ include "nuthatch.selector" . }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
helm.sh/chart: {{ printf "%s-%s" .Chart.Name .Chart.Version }}
{{- end }}

{{- define "nuthatch.secret" -}}
{{- .Values.existingSecret | default (include "nuthatch.fullname" .) }}
{{- end }}

{{/* The name under which nodes reach one another. */}}
{{- define "nuthatch.nodes" -}}
{{- printf "%s-nodes" (include "nuthatch.fullname" .) }}
{{- end }}

{{/* The configuration file, with the keys that the chart sets. */}}
{{- define "nuthatch.configuration" -}}
{{- $configuration := deepCopy .Values.configuration }}
{{- $server := deepCopy ($configuration.server | default dict) }}
{{- $_ := set $server "host" "0.0.0.0" }}
{{- $_ := set $server "port" 8080 }}
{{- $_ := set $configuration "server" $server }}
{{- $_ := set $configuration "dataDir" "/data" }}
{{- if .Values.cluster.enabled }}
{{- if ne (dig "state" "type" "embedded" $configuration) "postgres" }}
{{- fail "cluster.enabled: configuration.state must be of type postgres, which all nodes share" }}
{{- end }}
{{- if not $configuration.stores }}
{{- fail "cluster.enabled: configuration.stores must name a store that all nodes see, such as S3" }}
{{- end }}
{{- $cluster := dict "node" "${NODE}" "listen" (printf "0.0.0.0:%v" .Values.cluster.port) }}
{{- $_ := set $cluster "advertise" (printf "${NODE}.%s.%s.svc:%v" (include "nuthatch.nodes" .) .Release.Namespace .Values.cluster.port) }}
{{- $_ := set $cluster "secret" "${FILE:/run/secrets/nuthatch/cluster-secret}" }}
{{- $_ := set $cluster "cutOff" .Values.cluster.cutOff }}
{{- $_ := set $configuration "cluster" $cluster }}
{{- end }}
{{- toYaml $configuration }}
{{- end }}
