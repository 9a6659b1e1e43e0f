{{/* nanwatch.yaml of a component. Takes a list: the context, the component. Files
of certificates and tokens are named, never held. */}}
{{- define "nanwatch.config" -}}
{{- $root := index . 0 -}}
{{- $component := index . 1 -}}
{{- $name := include "nanwatch.name" $root -}}
{{- $service := printf "%s-%s.%s.svc" $name $component $root.Release.Namespace -}}
{{- $ingest := dict "socket" "/run/nanwatch/ingest.sock" -}}
{{- $web := dict "listen" "127.0.0.1:9765" -}}
{{- if include "nanwatch.webReachable" . -}}
{{-   $hosts := concat (list (printf "%s-%s" $name $component) (printf "%s-%s.%s" $name $component $root.Release.Namespace) $service (printf "%s.cluster.local" $service)) $root.Values.web.allowedHosts -}}
{{-   $web = dict "listen" "0.0.0.0:9765" "allowed_hosts" $hosts -}}
{{-   if and $root.Values.web.secret (ne $component "sidecar") -}}
{{-     $_ := set $web "config_file" "/etc/nanwatch/web/web-config.yml" -}}
{{-   else -}}
{{-     $_ := set $web "insecure" true -}}
{{-   end -}}
{{- end -}}
{{- $config := dict "history" (dict "path" "/var/lib/nanwatch/history.db") "log" (dict "json" true) -}}
{{- if eq $component "sidecar" -}}
{{-   $_ := set $ingest "socket_mode" "0666" -}}
{{-   $_ := set $ingest "memory" "384MiB" -}}
{{-   $_ := set $config "history" (dict "path" "/var/lib/nanwatch/history.db" "keep_bytes" "1GiB") -}}
{{- else -}}
{{-   $_ := set $ingest "tcp" "0.0.0.0:9766" -}}
{{-   $_ := set $ingest "tls" (dict "certificate" "/etc/nanwatch/tls/tls.crt" "key" "/etc/nanwatch/tls/tls.key") -}}
{{-   $_ := set $ingest "tokens" "/etc/nanwatch/tokens/tokens" -}}
{{- end -}}
{{- if eq $component "job" -}}
{{-   $_ := set $config "access" (dict "relays" (list $root.Values.relay.name)) -}}
{{- else -}}
{{-   $upstream := include "nanwatch.upstream" $root -}}
{{-   if $upstream -}}
{{-     $_ := set $config "upstream" (dict "address" $upstream "ca" "/etc/nanwatch/ca/ca.crt" "token_file" "/etc/nanwatch/relay/token") -}}
{{-   end -}}
{{- end -}}
{{- $_ := set $config "ingest" $ingest -}}
{{- $_ := set $config "web" $web -}}
{{- $own := index $root.Values $component "config" -}}
{{- toYaml (mustMergeOverwrite $config (deepCopy $own)) -}}
{{- end -}}

{{- define "nanwatch.upstream" -}}
{{- if .Values.upstream.address -}}
{{ .Values.upstream.address }}
{{- else if .Values.job.enabled -}}
tls://{{ include "nanwatch.name" . }}-job.{{ .Release.Namespace }}.svc:9766
{{- end -}}
{{- end -}}

{{/* Whether it holds an address that is a secret: of a webhook, or one with a
password. */}}
{{- define "nanwatch.configIsSecret" -}}
{{- $own := index (index . 0).Values (index . 1) "config" -}}
{{- if or (dig "notify" "webhook" "urls" list $own) (contains "@" (toJson $own)) }}true{{ end -}}
{{- end -}}

{{- define "nanwatch.configObject" -}}
{{- $root := index . 0 -}}
{{- $component := index . 1 -}}
{{- $secret := include "nanwatch.configIsSecret" . -}}
apiVersion: v1
kind: {{ ternary "Secret" "ConfigMap" (not (empty $secret)) }}
metadata:
  name: {{ include "nanwatch.name" $root }}-{{ $component }}
  labels:
    {{- include "nanwatch.selector" . | nindent 4 }}
{{ if $secret }}stringData{{ else }}data{{ end }}:
  nanwatch.yaml: |
    {{- include "nanwatch.config" . | nindent 4 }}
{{- end -}}

{{/* What the daemon's container mounts, and the volumes of that. Takes a list:
the context, the component. The history's volume is the component's. */}}
{{- define "nanwatch.mounts" -}}
{{- $root := index . 0 -}}
{{- $component := index . 1 -}}
- {name: nanwatch-run, mountPath: /run/nanwatch}
- {name: nanwatch-history, mountPath: /var/lib/nanwatch}
- {name: nanwatch-config, mountPath: /etc/nanwatch/config, readOnly: true}
{{- if ne $component "sidecar" }}
- {name: nanwatch-tls, mountPath: /etc/nanwatch/tls, readOnly: true}
- {name: nanwatch-tokens, mountPath: /etc/nanwatch/tokens, readOnly: true}
{{- end }}
{{- if and (ne $component "job") (include "nanwatch.upstream" $root) }}
- {name: nanwatch-ca, mountPath: /etc/nanwatch/ca, readOnly: true}
- {name: nanwatch-relay, mountPath: /etc/nanwatch/relay, readOnly: true}
{{- end }}
{{- if and $root.Values.web.secret (ne $component "sidecar") }}
- {name: nanwatch-web, mountPath: /etc/nanwatch/web, readOnly: true}
{{- end }}
{{- end -}}

{{- define "nanwatch.volumes" -}}
{{- $root := index . 0 -}}
{{- $component := index . 1 -}}
- name: nanwatch-run
  emptyDir: {medium: Memory, sizeLimit: 1Mi}
- name: nanwatch-config
{{- if include "nanwatch.configIsSecret" . }}
  secret: {secretName: {{ include "nanwatch.name" $root }}-{{ $component }}, defaultMode: 0440}
{{- else }}
  configMap: {name: {{ include "nanwatch.name" $root }}-{{ $component }}}
{{- end }}
{{- if ne $component "sidecar" }}
- name: nanwatch-tls
  secret: {secretName: {{ $root.Values.tls.secret }}, defaultMode: 0440}
- name: nanwatch-tokens
  secret: {secretName: {{ $root.Values.tokens.secret }}, defaultMode: 0440}
{{- end }}
{{- if and (ne $component "job") (include "nanwatch.upstream" $root) }}
- name: nanwatch-ca
  configMap: {name: {{ $root.Values.tls.caConfigMap }}}
- name: nanwatch-relay
  secret: {secretName: {{ $root.Values.relay.secret }}, defaultMode: 0440}
{{- end }}
{{- if and $root.Values.web.secret (ne $component "sidecar") }}
- name: nanwatch-web
  secret: {secretName: {{ $root.Values.web.secret }}, defaultMode: 0440}
{{- end }}
{{- end -}}

{{- define "nanwatch.container" -}}
{{- $root := index . 0 -}}
{{- $component := index . 1 -}}
name: nanwatch
image: {{ include "nanwatch.image" $root }}
imagePullPolicy: {{ $root.Values.image.pullPolicy }}
args: [--config, /etc/nanwatch/config/nanwatch.yaml]
{{- if or (ne $component "sidecar") (include "nanwatch.webReachable" .) }}
ports:
  {{- if ne $component "sidecar" }}
  - {name: ingest, containerPort: 9766}
  {{- end }}
  {{- if include "nanwatch.webReachable" . }}
  - {name: nanwatch-http, containerPort: 9765}
  {{- end }}
{{- end }}
{{ include "nanwatch.probes" $root }}
{{- if ne $component "sidecar" }}
{{ include "nanwatch.readiness" $root }}
{{- end }}
resources:
  {{- toYaml (index $root.Values $component "resources") | nindent 2 }}
securityContext:
  {{- include "nanwatch.containerSecurity" $root | nindent 2 }}
volumeMounts:
  {{- include "nanwatch.mounts" . | nindent 2 }}
{{- end -}}

{{/* Where its pods run. */}}
{{- define "nanwatch.placing" -}}
{{- with .nodeSelector }}
nodeSelector:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- with .tolerations }}
tolerations:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- with .affinity }}
affinity:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- with .priorityClassName }}
priorityClassName: {{ . }}
{{- end }}
{{- end -}}
