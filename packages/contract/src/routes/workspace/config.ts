import { z } from 'zod'
import { Chunks } from '../../chunks.ts'
import { idOutput } from '../../ids.ts'
import { LIMITS } from '../../limits.ts'
import { Text, Timestamp } from '../../list.ts'
import { CONFIG_KINDS, type ProjectConfig } from '../../project-config.ts'
import { defineRoute, READ, WRITE } from '../../route.ts'

const {
  configChangesMax,
  configPayloadsMax,
  configPayloadsDefault,
  configRoutesShownMax,
  configDifferencesShownMax: differencesMax,
} = LIMITS

/** The server checks it entry by entry, so that a long configuration does not block other requests. */
const Config = z.custom<z.input<typeof ProjectConfig>>().meta({ $ref: '#/components/schemas/ProjectConfig' })

const DeleteMissing = z
  .boolean()
  .default(false)
  .describe('Also delete resources that are not in the lists of the configuration. Absent: nothing is deleted.')

const Item = z.object({
  kind: z.enum(CONFIG_KINDS),
  identity: z
    .string()
    .describe('The slug of an endpoint, dataset/name of a record view, and the name of anything else.'),
})

const NeededSecrets = z.object({
  ...Item.shape,
  needs: z.array(z.string()).describe('The secrets that nobody has set here, such as auth.token or headers.X-Tenant.'),
  waiting: z
    .array(z.string())
    .describe(
      'The members that stay as they are until someone sets those secrets. Deliveries of a new destination wait until then.',
    ),
})

const Outcome = z.object({
  needs_verification_secret: z
    .array(z.string())
    .describe('The slugs of endpoints that answer every request 401 until someone sets their verification secret.'),
  needs_secrets: z.array(NeededSecrets),
})

const Filed = z.object({
  dataset: z.string(),
  by: z
    .string()
    .nullable()
    .describe('The name of the rule, or the slug of the endpoint; null: the URL of the sender named the dataset.'),
})
const Sent = z.object({
  destination: z.string(),
  dataset: z.string(),
  paused: z.boolean().describe('The destination is turned off, so the delivery waits.'),
})
const Started = z.object({
  kind: z.enum(['workflow', 'trigger']).describe('A workflow, or an AI trigger that runs an agent.'),
  name: z.string(),
  dataset: z.string(),
})
const differences = <Of extends z.ZodType>(of: Of) =>
  z.object({
    added: z.array(of),
    removed: z.array(of),
    changed: z.array(of).describe('The same with another record in it, or paused instead of sent.'),
  })

const Routing = z.object({
  compared: z.int().describe('The number of newest stored payloads that were routed both ways.'),
  different: z.int().describe('The number of these that would be routed differently.'),
  unreadable: z.int().describe('The number of these that can no longer be read, so they were not routed.'),
  budget_used_up: z
    .boolean()
    .optional()
    .describe('true: the call used up its work budget and left payloads out. Request fewer payloads.'),
  not_looked_at: z.int().optional().describe('With budget_used_up: the number of payloads left out, oldest first.'),
  payloads: z
    .array(
      z.object({
        submission_id: idOutput('submission'),
        received_at: Timestamp,
        refused_before: z
          .string()
          .nullable()
          .describe('The reason for which it would be refused now; null: it is accepted.'),
        refused_after: z.string().nullable().describe('The same after the plan.'),
        records: differences(Filed),
        deliveries: differences(Sent),
        starts: differences(Started).describe('The workflows and the AI triggers that its records would start.'),
        more: z.int().describe(`How many differences are left out: each list has at most ${differencesMax}.`),
      }),
    )
    .describe(`The newest ${configRoutesShownMax} of those that would be routed differently.`),
})

const Plan = Outcome.extend({
  id: z.string().describe('Send it as "plan" when you apply: a project that has changed since is refused.'),
  empty: z.boolean().describe('true: the project matches the configuration, and no secrets are missing.'),
  create: z.array(Item),
  change: z.array(
    Item.extend({ changes: z.array(z.object({ member: z.string(), from: z.unknown(), to: z.unknown() })) }),
  ),
  delete: z.array(Item).describe('Empty unless delete_missing is true.'),
  unchanged: z.array(Item),
  not_in_config: z
    .array(Item)
    .describe(
      'Resources that are in the project but not in the configuration. They are not deleted. Empty with delete_missing.',
    ),
  not_exported: z
    .array(z.object({ kind: z.string(), name: z.string() }))
    .describe(
      'Resources that are never part of a configuration: those with credentials, and datasets with a description or a retention period.',
    ),
  routing: Routing.nullable().describe('null: the plan changes nothing, or recent is 0.'),
})

export const config = {
  export: defineRoute({
    method: 'GET',
    area: 'project',
    path: 'config/export',
    summary: 'Export the configuration of a project',
    description:
      'Endpoints, rules, record views, destinations, workflows and AI triggers as one JSON file for git: 2-space JSON in a stable order, with nothing secret in it. ' +
      'The file contains no endpoint URLs, secrets, ingest keys or header values. `not_exported` lists what is left out. ' +
      'A member that has its default is left out, unless it is one of the basic ones. The JSON Schema is at /docs/project-config.schema.json.',
    ...READ,
    status: 200,
    download: { type: 'application/json', name: 'postroad.json', named: 'ProjectConfig' },
    output: Chunks,
  }),
  plan: defineRoute({
    method: 'POST',
    area: 'project',
    path: 'config/plan',
    summary: 'Plan a configuration',
    description:
      'Compares a configuration with the project and reports what applying it would create, change and delete, which secrets someone has to set, and how the newest ' +
      `stored payloads would be routed differently. It does not write anything, so any role can use it. It looks at ${configPayloadsDefault} payloads unless \`recent\` says otherwise.`,
    ...READ,
    status: 200,
    body: z.strictObject({
      config: Config,
      delete_missing: DeleteMissing,
      recent: z
        .int()
        .min(0)
        .max(configPayloadsMax)
        .default(configPayloadsDefault)
        .describe('The number of newest stored payloads to route both ways; 0: none.'),
    }),
    output: z.object({ plan: Plan }),
  }),
  apply: defineRoute({
    method: 'POST',
    area: 'project',
    path: 'config/apply',
    summary: 'Apply a configuration',
    description:
      'Applies the configuration to the project in one transaction: all changes, or none. Each change has an audit row. With `plan` it is refused with 409 ' +
      '`project_changed` when the project has changed since that plan. Endpoints get URLs and destinations get signing secrets of their project; the response contains no secrets. ' +
      `One call makes at most ${configChangesMax.toLocaleString('en')} changes.`,
    ...WRITE,
    status: 200,
    body: z.strictObject({
      config: Config,
      delete_missing: DeleteMissing,
      plan: Text.max(200)
        .optional()
        .describe('The id of the plan that you agree with. Absent: applied to the project as it is now.'),
    }),
    output: z.object({
      applied: Outcome.extend({ create: z.array(Item), change: z.array(Item), delete: z.array(Item) }),
    }),
  }),
} as const
