{{/* The command of a process of importer/management/processes. */}}
{{- define "millrace.process" -}}
command: ["python", "-m", "importer.management.processes", {{ . | quote }}]
{{- end -}}

{{/* (dict "root" $ "role" NAME "extra" MAP): the environment. Settings of `extra` win over those of env, and both over
the chart's own. */}}
{{- define "millrace.environment" -}}
{{- $own := include "millrace.settings" .root | fromYaml -}}
{{- $keys := .root.Values.secretKeys -}}
{{- if and .root.Values.adminPassword (eq .role "prepare") }}{{ $keys = append $keys "ADMIN_PASSWORD" }}{{ end -}}
env:
  {{- range $name, $value := merge (dict) (.extra | default dict) .root.Values.env $own }}
  - name: {{ $name }}
    value: {{ $value | toString | quote }}
  {{- end }}
  {{- range $keys }}
  - name: {{ . }}_FILE
    value: {{ include "millrace.folder.secrets" $ }}/{{ . }}
  {{- end }}
{{- end -}}

{{/* (dict "root" $ "role" NAME "extra" MAP): what all containers have. */}}
{{- define "millrace.container" -}}
image: {{ include "millrace.image" .root }}
imagePullPolicy: {{ .root.Values.image.pullPolicy }}
{{ include "millrace.environment" . }}
securityContext:
  allowPrivilegeEscalation: false
  readOnlyRootFilesystem: true
  capabilities: {drop: [ALL]}
resources: {{- (index .root.Values .role).resources | toYaml | nindent 2 }}
volumeMounts:
  - {name: state, mountPath: {{ include "millrace.folder.state" . }}}
  - {name: uploads, mountPath: {{ include "millrace.folder.uploads" . }}}
  - {name: static, mountPath: {{ include "millrace.folder.static" . }}}
  - {name: temporary, mountPath: /tmp}
  - {name: secrets, mountPath: {{ include "millrace.folder.secrets" . }}, readOnly: true}
  {{- if has .role (list "web" "load" "control") }}
  {{- with .root.Values.extraVolumeMounts }}
  {{- toYaml . | nindent 2 }}
  {{- end }}
  {{- end }}
{{- end -}}

{{/* (dict "root" $ "role" NAME): the head of a pod's template, and everything of its spec but the containers. */}}
{{- define "millrace.pod" -}}
{{- $values := index .root.Values .role -}}
metadata:
  labels:
    {{- include "millrace.labels" .root | nindent 4 }}
    app.kubernetes.io/component: {{ .role }}
  annotations:
    kubectl.kubernetes.io/default-container: {{ .role }}
    {{- with $values.annotations }}
    {{- toYaml . | nindent 4 }}
    {{- end }}
spec:
  serviceAccountName: {{ .root.Values.serviceAccount.name }}
  automountServiceAccountToken: false
  enableServiceLinks: false
  securityContext:
    runAsNonRoot: true
    # The account that the Dockerfile makes.
    runAsUser: 10001
    runAsGroup: 10001
    fsGroup: 10001
    fsGroupChangePolicy: OnRootMismatch
    seccompProfile: {type: RuntimeDefault}
  {{- with .root.Values.image.pullSecrets }}
  imagePullSecrets: {{- range . }}
    - name: {{ . }}
  {{- end }}
  {{- end }}
  {{- with $values.terminationGracePeriodSeconds }}
  terminationGracePeriodSeconds: {{ . }}
  {{- end }}
  {{- include "millrace.placement" . | nindent 2 }}
  volumes:
    {{- include "millrace.volumes" . | nindent 4 }}
{{- end -}}

{{/* Which node: with volumes that one node has, all pods that use them go there; otherwise those of a role spread. */}}
{{- define "millrace.placement" -}}
{{- $values := index .root.Values .role -}}
{{- with $values.nodeSelector }}
nodeSelector: {{- toYaml . | nindent 2 }}
{{- end }}
{{- with $values.tolerations }}
tolerations: {{- toYaml . | nindent 2 }}
{{- end }}
{{- if has .role (list "web" "load" "control") }}
{{- if and (include "millrace.claims" .) (eq .root.Values.persistence.accessMode "ReadWriteOnce") }}
affinity:
  podAffinity:
    requiredDuringSchedulingIgnoredDuringExecution:
      - topologyKey: kubernetes.io/hostname
        labelSelector:
          matchLabels: {{- include "millrace.selector" .root | nindent 12 }}
          matchExpressions:
            - {key: app.kubernetes.io/component, operator: In, values: [{{ if .root.Values.persistence.shared }}web, load, control{{ else }}web{{ end }}]}
{{- else }}
topologySpreadConstraints:
  - maxSkew: 1
    topologyKey: kubernetes.io/hostname
    whenUnsatisfiable: ScheduleAnyway
    labelSelector:
      matchLabels:
        {{- include "millrace.selector" .root | nindent 8 }}
        app.kubernetes.io/component: {{ .role }}
{{- end }}
{{- end }}
{{- end -}}

{{/* Whether the pods of the role use the claims; empty for no. */}}
{{- define "millrace.claims" -}}
{{- $roles := ternary (list "web" "load" "control") (list "web") .root.Values.persistence.shared -}}
{{- if and .root.Values.persistence.enabled (has .role $roles) -}}yes{{- end -}}
{{- end -}}

{{/* What each pod may write to. `prepare` runs before the claims exist, and beat writes nothing that others read. */}}
{{- define "millrace.volumes" -}}
{{- $root := .root -}}
{{- $shared := include "millrace.claims" . -}}
{{- range $name := list "state" "uploads" }}
- name: {{ $name }}
  {{- if $shared }}
  persistentVolumeClaim:
    claimName: {{ (index $root.Values.persistence $name).existingClaim | default (printf "%s-%s" (include "millrace.name" $root) $name) }}
  {{- else }}
  emptyDir: {}
  {{- end }}
{{- end }}
- {name: static, emptyDir: {}}
- {name: temporary, emptyDir: {}}
- name: secrets
  secret:
    secretName: {{ .root.Values.existingSecret }}
    # For the group alone, which is Millrace's (fsGroup).
    defaultMode: 0440
    items:
      {{- range .root.Values.secretKeys }}
      - {key: {{ . }}, path: {{ . }}}
      {{- end }}
      {{- if and .root.Values.adminPassword (eq .role "prepare") }}
      - {key: ADMIN_PASSWORD, path: ADMIN_PASSWORD}
      {{- end }}
{{- if has .role (list "web" "load" "control") }}
{{- with .root.Values.extraVolumes }}
{{ toYaml . }}
{{- end }}
{{- end }}
{{- end -}}

{{/* The head of a Deployment's spec. */}}
{{- define "millrace.deployment" -}}
apiVersion: apps/v1
kind: Deployment
metadata:
  name: {{ include "millrace.name" .root }}-{{ .role }}
  labels:
    {{- include "millrace.labels" .root | nindent 4 }}
    app.kubernetes.io/component: {{ .role }}
{{- end -}}

{{- define "millrace.matching" -}}
selector:
  matchLabels:
    {{- include "millrace.selector" .root | nindent 4 }}
    app.kubernetes.io/component: {{ .role }}
{{- end -}}

{{/* Whether this pod's worker or beat has announced itself in Redis. There is no liveness probe: while Redis is away, a
worker continues to load, and one whose process has ended is started again in any case. */}}
{{- define "millrace.presence" -}}
startupProbe:
  exec: &presence
    command: ["python", "-m", "importer.worker.hosts.presence", {{ . | quote }}]
  periodSeconds: 10
  timeoutSeconds: 10
  failureThreshold: 30
readinessProbe:
  exec: *presence
  periodSeconds: 30
  timeoutSeconds: 10
{{- end -}}
