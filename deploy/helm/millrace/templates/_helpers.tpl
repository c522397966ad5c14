{{/* The name of the release's objects: at most 52 characters, so that a suffix such as -uploads fits into 63. */}}
{{- define "millrace.name" -}}
{{- if contains "millrace" .Release.Name -}}
{{- .Release.Name | trunc 52 | trimSuffix "-" -}}
{{- else -}}
{{- printf "%s-millrace" .Release.Name | trunc 52 | trimSuffix "-" -}}
{{- end -}}
{{- end -}}

{{- define "millrace.selector" -}}
app.kubernetes.io/name: millrace
app.kubernetes.io/instance: {{ .Release.Name }}
{{- end -}}

{{- define "millrace.labels" -}}
{{ include "millrace.selector" . }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
helm.sh/chart: {{ printf "%s-%s" .Chart.Name .Chart.Version | quote }}
{{- end -}}

{{- define "millrace.image" -}}
{{- printf "%s:%s" .Values.image.repository (.Values.image.tag | default .Chart.AppVersion) | quote -}}
{{- end -}}

{{/* Where the volumes are. Millrace makes a private folder in each: what a volume's own folder allows others is not ours. */}}
{{- define "millrace.folder.state" -}}/var/lib/millrace{{- end -}}
{{- define "millrace.folder.uploads" -}}/var/lib/millrace-uploads{{- end -}}
{{- define "millrace.folder.static" -}}/var/lib/millrace-static{{- end -}}
{{- define "millrace.folder.secrets" -}}/run/secrets/millrace{{- end -}}

{{/* The settings of all processes as a map in YAML, without secrets. */}}
{{- define "millrace.settings" -}}
{{- $name := include "millrace.name" . -}}
{{- $hosts := list $name (printf "%s.%s" $name .Release.Namespace) (printf "%s.%s.svc" $name .Release.Namespace) -}}
{{- if .Values.host }}{{ $hosts = prepend $hosts .Values.host }}{{ end -}}
VAR_DIR: {{ include "millrace.folder.state" . }}/data
UPLOAD_DIR: {{ include "millrace.folder.uploads" . }}/files
STATIC_DIR: {{ include "millrace.folder.static" . }}/files
IMPORT_FOLDERS: ""
BIND: 0.0.0.0
PORT: "8000"
WEB_PROCESSES: {{ .Values.web.processes | quote }}
WEB_THREADS: {{ .Values.web.threads | quote }}
WORKER_CONCURRENCY: {{ .Values.load.concurrency | quote }}
ALLOWED_HOSTS: {{ join "," $hosts }}
{{- if .Values.host }}
SITE_URL: {{ ternary "https" "http" .Values.https }}://{{ .Values.host }}
SERVED_OVER_HTTPS: {{ ternary "True" "False" .Values.https | quote }}
{{- end }}
{{- end -}}
