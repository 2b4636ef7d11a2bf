{{- define "grove.image" -}}
{{- with .Values.image -}}
{{- if .digest -}}{{ .repository }}@{{ .digest }}{{- else -}}{{ .repository }}:{{ .tag | default (printf "v%s" $.Chart.AppVersion) }}{{- end -}}
{{- end -}}
{{- end -}}

{{- define "grove.labels" -}}
{{- dict "app.kubernetes.io/name" "grove-operator" "app.kubernetes.io/version" .Chart.AppVersion | toJson -}}
{{- end -}}

{{- define "grove.config" -}}
{{- $own := dict "server" (dict "webhooks" (dict "enabled" .Values.webhooks.enabled)) "initContainer" (dict "image" (include "grove.image" .)) -}}
{{- $head := dict "apiVersion" "operator.config.grove.io/v1alpha1" "kind" "OperatorConfiguration" -}}
{{- mergeOverwrite $head $own (deepCopy .Values.config) | toRawJson -}}
{{- end -}}

{{- define "grove.notExempt" -}}
{{- $authorizer := .Values.config.authorizer | default dict -}}
!(request.userInfo.username in {{ $authorizer.exemptServiceAccountUserNames | default list | toRawJson }})
{{- end -}}

{{- define "grove.preflightNamespaces" -}}
{{- $preflight := index .Values "preflight-injector" -}}
{{- $key := "kubernetes.io/metadata.name" -}}
{{- $excluded := dict "key" $key "operator" "NotIn" "values" (append ($preflight.excludeNamespaces | default list) .Release.Namespace) -}}
{{- $selector := $preflight.namespaceSelector -}}
{{- if kindIs "map" $selector -}}
{{- merge (dict "matchExpressions" (append ($selector.matchExpressions | default list) $excluded)) $selector | toJson -}}
{{- else -}}
{{- $chosen := dict "key" $key "operator" "In" "values" ($preflight.namespaces | default (list "")) -}}
{{- dict "matchExpressions" (list $chosen $excluded) | toJson -}}
{{- end -}}
{{- end -}}
