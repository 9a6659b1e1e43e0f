{{- define "nanwatch.name" -}}
{{- default .Release.Name .Values.fullnameOverride | trunc 40 | trimSuffix "-" -}}
{{- end -}}

{{/* Takes a list: the context, the component. */}}
{{- define "nanwatch.selector" -}}
app.kubernetes.io/name: nanwatch
app.kubernetes.io/instance: {{ include "nanwatch.name" (index . 0) }}
app.kubernetes.io/component: {{ index . 1 }}
{{- end -}}

{{- define "nanwatch.image" -}}
{{ .Values.image.repository }}:{{ default .Chart.AppVersion .Values.image.tag }}
{{- end -}}

{{- define "nanwatch.podSecurity" -}}
runAsNonRoot: true
runAsUser: 65532
runAsGroup: 65532
fsGroup: 65532
fsGroupChangePolicy: OnRootMismatch
seccompProfile: {type: RuntimeDefault}
{{- end -}}

{{- define "nanwatch.containerSecurity" -}}
allowPrivilegeEscalation: false
capabilities: {drop: [ALL]}
readOnlyRootFilesystem: true
runAsNonRoot: true
seccompProfile: {type: RuntimeDefault}
{{- end -}}

{{/* Of the pod's own user, through the socket: HTTP may ask for a password. A
long history is replayed before the daemon answers. */}}
{{- define "nanwatch.probes" -}}
startupProbe:
  exec: {command: [/bin/nanwatch, runs]}
  periodSeconds: 2
  timeoutSeconds: 10
  failureThreshold: 300
livenessProbe:
  exec: {command: [/bin/nanwatch, runs]}
  periodSeconds: 30
  timeoutSeconds: 10
  failureThreshold: 6
{{- end -}}

{{- define "nanwatch.readiness" -}}
readinessProbe:
  exec: {command: [/bin/nanwatch, runs]}
  periodSeconds: 10
  timeoutSeconds: 10
{{- end -}}

{{/* Of a training's container, and of the sidecar: who it is, for its run and
its incidents. */}}
{{- define "nanwatch.labels" -}}
- name: NANWATCH_NAMESPACE
  valueFrom: {fieldRef: {fieldPath: metadata.namespace}}
- name: NANWATCH_POD
  valueFrom: {fieldRef: {fieldPath: metadata.name}}
- name: NANWATCH_NODE
  valueFrom: {fieldRef: {fieldPath: spec.nodeName}}
{{- end -}}

{{/* Whether HTTP is open beyond the pod. No key and no password goes to where
trainings run, so a sidecar has no TLS. */}}
{{- define "nanwatch.webReachable" -}}
{{- with (index . 0).Values.web -}}
{{- if or .insecure (and .secret (ne (index $ 1) "sidecar")) }}true{{ end -}}
{{- end -}}
{{- end -}}
