/** The main entry point of the package: everything that crosses the wire. */
export type { StoredFile } from './chunks.ts'
export * from './agent-registration.ts'
export * from './condition-ops.ts'
export * from './condition.ts'
export * from './decimal.ts'
export type { CustomerPath, CustomerPlace } from './customer-setting.ts'
export * from './data-api.ts'
export * from './decision.ts'
export { DESTINATION_KINDS, DestinationConfig, type DestinationKind } from './destination-kinds.ts'
export type { AuthKind, DestinationAuth, DestinationProxy, DestinationTls } from './destination-auth.ts'
export {
  DEFAULT_SCHEDULE_SECONDS,
  SIGNING_SCHEMES,
  type BodyForm,
  type CustomHeaders,
  type PublicKeys,
  type ShownHeaders,
} from './destination-settings.ts'
export * from './dot-path.ts'
export * from './dry-run.ts'
export * from './envelope.ts'
export { ERROR_CODES } from './error-codes.ts'
export * from './errors.ts'
export type { EventSummary } from './event-summary.ts'
export * from './body-reading.ts'
export * from './endpoint-response.ts'
export * from './event-title.ts'
export { FORWARDER_PRESET_IDS, FORWARDER_PRESETS, type ForwarderPreset } from './forwarder-presets.ts'
export * from './gates.ts'
export * from './handshake.ts'
export {
  HANDSHAKE_KINDS,
  type HANDSHAKE_STATUSES,
  type HANDSHAKE_TYPES,
  type HandshakeForm,
  type HandshakeKind,
} from './handshake-form.ts'
export * from './handshake-forms.ts'
export {
  answerPieces,
  handshakeConditions,
  placesOf,
  verifyTokenNeed,
  type HandshakeCondition,
} from './handshake-parts.ts'
export { handshakePieces, type HandshakePiece, type HandshakePlace } from './handshake-template.ts'
export * from './holds.ts'
export * from './idempotency.ts'
export * from './ids.ts'
export { closedJson } from './json-start.ts'
export * from './lights.ts'
export { LIMITS } from './limits.ts'
export { DATASET_NAME } from './list.ts'
export { SYSTEM_DATASET, SYSTEM_DATASET_RULE } from './system-dataset.ts'
export * from './mapping.ts'
export * from './portal-api.ts'
export * from './portal-settings.ts'
export * from './rejection.ts'
export * from './refused-sample.ts'
export * from './alert-types.ts'
export { AlertRule, AlertRuleEntry, QuietHours, WEEKDAYS, type Weekday } from './alert-settings.ts'
export { type Alert } from './routes/workspace/alerts.ts'
export { CONSOLE_SCREENS, type ConsoleScreen } from './console-screens.ts'
export type { ConfigKind, ProjectConfig } from './project-config.ts'
export { outcomeText } from './replay-outcome.ts'
export { RESERVED_ROOTS } from './reserved-roots.ts'
export * from './route.ts'
export { TRANSFORM_FAULTS, TRANSFORM_LANGUAGES, type TransformLanguage } from './transform.ts'
export { RESTORABLE_KINDS, type RestorableKind } from './routes/workspace/deletions.ts'
export type { Misfit } from './routes/workspace/audit.ts'
export { INSTANCE_STATES, STORED_INSTANCE_STATES } from './routes/automation/workflow-instances.ts'
export type { WorkflowDefinition, WorkflowDryRun } from './routes/automation/workflows.ts'
export { DestinationPreset } from './routes/delivery/destination-presets.ts'
export type { TransformTest } from './routes/delivery/transforms.ts'
export { SourcePreset } from './routes/capture/source-presets.ts'
export { AGENT_TOOLS, type AgentTool } from './routes/automation/ai-agents.ts'
export { EventOrigin } from './event-origin.ts'
export { ORIGIN_KINDS } from './origins.ts'
export { FORWARD_STATUSES } from './routes/capture/activity.ts'
export { DELIVERY_STATES, OUTCOMES, PAUSE_REASONS, TRIGGERS } from './routes/delivery/deliveries.ts'
export { SSO_REPLACE_PATH } from './routes/people/sso.ts'
export { INGEST_KEY_SCOPES } from './routes/capture/ingest-keys.ts'
export type { ReplayPlan } from './routes/delivery/replays.ts'
export { routes, type RouteGroups, type Routes } from './routes/index.ts'
export {
  FORWARDED_CONTENT,
  FORWARDED_SIGNALS,
  type ForwardedContent,
  type ForwardedSignal,
} from './routes/serving/forwarders.ts'
export type { OriginError } from './origin-error.ts'
export type { WebhookConfig } from './routes/capture/webhooks.ts'
export type { SendMethod, SentBody, SentRequest } from './sent-request.ts'
export * from './sign-in.ts'
export {
  CHANGE_OPERATIONS,
  DATABASE_KINDS,
  type ChangeOperation,
  SOURCE_KINDS,
  type DatabaseKind,
  type SourceKind,
  type SourceSettings,
} from './source-settings.ts'
export * from '@postroad/verify/described-content'
export * from './stream-frame.ts'
export {
  ADDITIVE_SCHEMES,
  CERTIFICATE_SCHEMES,
  schemeText,
  VERIFICATION_SCHEMES,
  VERIFIED_SCHEMES,
  type VerificationScheme,
  type AdditiveScheme,
  type VerifiedScheme,
} from './schemes.ts'
export { ProvenState, stateOfPassed } from './verification-state.ts'
export * from './verification.ts'
export { Step, Steps, STEP_TYPES, type StepOf, type StepType } from './workflow-steps.ts'
export { SERVICE_VERSION, SERVICE_VERSIONS } from './version.ts'
