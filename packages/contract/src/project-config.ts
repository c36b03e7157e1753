import { z } from 'zod'
import { AlertRuleEntry, QuietHours } from './alert-settings.ts'
import { Conditions } from './condition.ts'
import { DestinationConfig } from './destination-kinds.ts'
import { CustomerPlace } from './customer-setting.ts'
import { DestinationAuth, DestinationProxy, DestinationTls } from './destination-auth.ts'
import {
  Datasets,
  DeliveryBody,
  ForwardHeaders,
  MaxInFlight,
  Ordering,
  PayloadTemplate,
  RateLimit,
  Retry,
  Signing,
  TimeoutMs,
  Url,
} from './destination-settings.ts'
import { BodyAs, SplitSetting } from './body-reading.ts'
import { EndpointResponseSetting } from './endpoint-response.ts'
import { EventTitle } from './event-title.ts'
import { Cors, IpAllowlist } from './gates.ts'
import { HandshakeEntry } from './handshake.ts'
import { heldHeaderName } from './header-name.ts'
import { Idempotency } from './idempotency.ts'
import { LIMITS } from './limits.ts'
import { DatasetName, Name, Slug, Text, WritableDatasetName } from './list.ts'
import { Mappings } from './mapping.ts'
import { QuarantineHours } from './routes/capture/quarantine.ts'
import { Columns, SORT_DIRS } from './routes/capture/record-views.ts'
import { Code, Language } from './transform.ts'
import { VerificationSettings } from './verification.ts'
import { Steps } from './workflow-steps.ts'

export { AlertRuleEntry, QuietHours } from './alert-settings.ts'

/**
 * The project configuration (contract part 2): the file that is exported, versioned in git, planned and applied. It contains nothing secret.
 * A member that is left out has its default; a list that is left out is not managed.
 */

const Enabled = z.boolean().optional().describe('Absent: true.')
const criteria = (what: string) => Conditions.optional().describe(`Absent: none, so it takes every ${what}.`)
const OptionalMappings = Mappings.optional().describe('Absent: none, so the record is the whole payload.')

export const EndpointEntry = z.strictObject({
  name: Name,
  slug: Slug.describe('The identity of the endpoint. It is not part of its URL.'),
  dataset: WritableDatasetName,
  enabled: Enabled,
  criteria: criteria('event'),
  mappings: OptionalMappings,
  ip_allowlist: IpAllowlist.optional(),
  verification: VerificationSettings.optional().describe(
    'The scheme and its settings, without the secret. An endpoint that is created, or that gets another scheme, has no secret and answers every request 401 until ' +
      'someone sets one. Absent: a new endpoint verifies nothing, and one that exists stays as it is.',
  ),
  cors: Cors.optional(),
  handshake: HandshakeEntry.optional(),
  response: EndpointResponseSetting.optional(),
  body_as: BodyAs.optional(),
  split: SplitSetting.optional(),
  idempotency: Idempotency.optional(),
  customer: CustomerPlace.optional(),
  event_title: EventTitle.optional(),
  refused_samples: z.boolean().optional().describe('Absent: true.'),
  quarantine_hours: QuarantineHours.optional(),
})

export const RuleEntry = z.strictObject({
  name: Name.describe('The identity of the rule.'),
  dataset: WritableDatasetName,
  enabled: Enabled,
  conditions: criteria('event'),
  mappings: OptionalMappings,
})

export const RecordViewEntry = z.strictObject({
  dataset: DatasetName.describe('With the name the identity of the view: the dataset of its endpoint.'),
  name: Name,
  endpoint: Slug.optional().describe(
    'The slug of its endpoint. Absent: the endpoint that files into the dataset; needed when several do.',
  ),
  columns: Columns,
  sort_key: Text.max(LIMITS.columnKeyCharsMax).nullable().optional().describe('Absent or null: newest first.'),
  sort_dir: z.enum(SORT_DIRS).optional().describe('Absent: asc.'),
  is_default: z.boolean().optional().describe('Absent: false.'),
})

const [, Basic, Bearer, Header, OAuth, Payload, Aws, Google] = DestinationAuth.options

/** The authentication at a destination, without the secret. */
const AuthSettings = z.discriminatedUnion('kind', [
  Basic.omit({ password: true }),
  Bearer.omit({ token: true }),
  Header.omit({ value: true }),
  OAuth.omit({ client_secret: true }),
  Payload.omit({ secret: true }),
  Aws.omit({ secret_access_key: true }),
  Google.omit({ private_key: true }),
])
export type AuthSettings = z.output<typeof AuthSettings>

export const TransformEntry = z.strictObject({
  name: Name.describe('The identity of the transform.'),
  language: Language.optional().describe('Absent: js.'),
  code: Code,
})

export const DestinationEntry = z
  .strictObject({
    name: Name.describe('The identity of the destination.'),
    config: DestinationConfig.optional().describe('Absent: the kind http.'),
    url: Url.optional(),
    sink: z
      .literal(true)
      .optional()
      .describe('In place of url: this server receives the deliveries itself, as with POST destination-sinks.'),
    enabled: Enabled,
    datasets: Datasets.optional(),
    conditions: criteria('record'),
    retry: Retry.optional(),
    timeout_ms: TimeoutMs.optional(),
    max_in_flight: MaxInFlight.optional(),
    rate_limit: RateLimit.optional(),
    ordering: Ordering.optional(),
    signing: Signing.optional(),
    payload_template: PayloadTemplate.optional(),
    body: DeliveryBody.optional(),
    forward_headers: ForwardHeaders.optional(),
    transform: Name.nullable().optional().describe('The name of a transform of the project. Absent or null: none.'),
    headers: z
      .array(heldHeaderName('X-Tenant'))
      .max(LIMITS.customHeadersMax)
      .optional()
      .describe('The names of its custom headers. Their values are secret.'),
    auth: AuthSettings.optional().describe('Absent: none.'),
    tls: DestinationTls.unwrap().omit({ private_key: true }).optional(),
    proxy: DestinationProxy.unwrap().omit({ password: true }).optional(),
    needs_secrets: z
      .array(z.string())
      .optional()
      .describe('Informational: the secrets that someone has to set where this is applied, such as auth.token.'),
  })
  .refine(({ url, sink }) => (url === undefined) !== (sink === undefined), 'needs a url, or "sink": true')

export const WorkflowEntry = z.strictObject({
  name: Text.trim().min(1).max(LIMITS.workflowNameCharsMax).describe('The identity of the workflow.'),
  slug: Slug.optional().describe('Absent: that of the workflow, or made from the name.'),
  active: z.boolean().optional().describe('Absent: true.'),
  entry_dataset: DatasetName,
  entry_conditions: criteria('record'),
  steps: Steps.describe(
    'As in a workflow. `destination` and `agent` are names here, because every project has other ids.',
  ),
})

export const TriggerEntry = z.strictObject({
  name: Name.describe('The identity of the AI trigger.'),
  dataset: DatasetName,
  conditions: criteria('record'),
  agent: z.string().min(1).describe('The name of an AI agent of the project.'),
  active: z.boolean().optional().describe('Absent: true.'),
  max_per_minute: z
    .int()
    .min(1)
    .max(LIMITS.aiTriggerPerMinuteMax)
    .optional()
    .describe(`Absent: ${LIMITS.aiTriggerPerMinuteDefault}.`),
  output_dataset: WritableDatasetName.nullable().optional().describe('Absent: none.'),
})

export const CONFIG_KINDS = [
  'endpoint',
  'rule',
  'record_view',
  'transform',
  'destination',
  'workflow',
  'trigger',
  'alert_rule',
  'quiet_hours',
] as const
export type ConfigKind = (typeof CONFIG_KINDS)[number]

const NotExported = z
  .object({ kind: z.string(), name: z.string() })
  .describe(
    'What the project has beside the configuration: resources with credentials, and datasets with a description or a retention period.',
  )

const List = <Entry extends z.ZodType>(entry: Entry) =>
  z.array(entry).optional().describe('Absent: nothing of this kind is created, changed or deleted.')

/** The configuration without its lists. `$schema` is for editors. */
export const ProjectConfigHead = z.strictObject({
  $schema: z.string().optional().describe('For editors; ignored.'),
  version: z.literal(1, 'The version of a configuration is 1.'),
  project: z
    .string()
    .nullable()
    .optional()
    .describe('Informational: the slug of the project that it was exported from.'),
  not_exported: z.array(NotExported).optional().describe('Informational; ignored when it is planned or applied.'),
})

/** New kinds are new lists of the same version. */
export const ProjectConfig = z
  .strictObject({
    ...ProjectConfigHead.shape,
    endpoints: List(EndpointEntry),
    rules: List(RuleEntry),
    record_views: List(RecordViewEntry),
    transforms: List(TransformEntry),
    destinations: List(DestinationEntry),
    workflows: List(WorkflowEntry),
    triggers: List(TriggerEntry),
    alert_rules: List(AlertRuleEntry),
    quiet_hours: List(QuietHours),
  })
  .describe(
    'A project as code: endpoints, rules, record views, transforms, destinations, workflows, AI triggers, and the rules and quiet hours of alerts, with nothing secret.',
  )
export type ProjectConfig = z.output<typeof ProjectConfig>

/** The format as a JSON Schema, for editors and programs; the server checks more than the schema does. */
export function projectConfigSchema(id: string): Readonly<Record<string, unknown>> {
  const { $schema, ...schema } = z.toJSONSchema(ProjectConfig, { io: 'input', unrepresentable: 'any' })
  return { $schema, $id: id, title: 'Postroad project configuration', ...schema }
}
