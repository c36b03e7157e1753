import { z } from 'zod'
import { Chunks } from '../../chunks.ts'
import { idOutput } from '../../ids.ts'
import { LIMITS } from '../../limits.ts'
import { Timestamp } from '../../list.ts'
import { CONFIG_KINDS, type ProjectConfig } from '../../project-config.ts'
import { defineRoute, READ, WRITE } from '../../route.ts'

const {
  configChangesMax,
  configPayloadsMax,
  configPayloadsDefault,
  configRoutesShownMax,
  configDifferencesShownMax: differencesMax,
} = LIMITS

/** The server checks it entry by entry, so that a long one stops nobody else's requests. */
const Config = z.custom<z.input<typeof ProjectConfig>>().meta({ $ref: '#/components/schemas/ProjectConfig' })

const DeleteMissing = z
  .boolean()
  .default(false)
  .describe('Also delete what the lists of the configuration do not have. Absent: nothing is deleted.')

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
      'The members that stay as they are until somebody sets those secrets. Deliveries of a new destination wait until then.',
    ),
})

const Outcome = z.object({
  needs_verification_secret: z
    .array(z.string())
    .describe('The slugs of endpoints that answer every request 401 until somebody sets their verification secret.'),
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
  paused: z.boolean().describe('The destination is switched off, so the delivery waits.'),
})
const differences = <Of extends z.ZodType>(of: Of) =>
  z.object({
    added: z.array(of),
    removed: z.array(of),
    changed: z.array(of).describe('The same with another record in it, or paused instead of sent.'),
  })

const Routing = z.object({
  compared: z.int().describe('How many of the newest stored payloads were routed by both.'),
  different: z.int().describe('How many of these would be routed differently.'),
  unreadable: z.int().describe('How many of these cannot be read any more; nothing routes them.'),
  budget_used_up: z
    .boolean()
    .optional()
    .describe('Set when it took as much work as one call may do, so that payloads were left out: ask for fewer.'),
  not_looked_at: z.int().optional().describe('With budget_used_up: how many payloads were left out, the oldest ones.'),
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
        more: z.int().describe(`How many differences are left out: each list has at most ${differencesMax}.`),
      }),
    )
    .describe(`The newest ${configRoutesShownMax} of those that would be routed differently.`),
})

const Plan = Outcome.extend({
  id: z.string().describe('Send it as "plan" when you apply: a project that has changed since is refused.'),
  empty: z
    .boolean()
    .describe('The project is as the configuration says: nothing to do, and nothing waits for a secret.'),
  create: z.array(Item),
  change: z.array(
    Item.extend({ changes: z.array(z.object({ member: z.string(), from: z.unknown(), to: z.unknown() })) }),
  ),
  delete: z.array(Item).describe('Empty unless delete_missing is true.'),
  unchanged: z.array(Item),
  not_in_config: z
    .array(Item)
    .describe('What the project has and the lists of the configuration do not; it stays. Empty with delete_missing.'),
  not_exported: z
    .array(z.object({ kind: z.string(), name: z.string() }))
    .describe('What the project has that no configuration has, because it is or contains a credential.'),
  routing: Routing.nullable().describe('null: the plan changes nothing, or recent is 0.'),
})

export const config = {
  export: defineRoute({
    method: 'GET',
    area: 'project',
    path: 'config/export',
    summary: 'Export the configuration of a project',
    description:
      'Endpoints, rules, record views and destinations as one JSON file for git: 2-space JSON in a stable order, with nothing secret in it. ' +
      'No URL of an endpoint, no secret, no ingest key and no value of a header is part of it. `not_exported` names what is left out. ' +
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
      'Compares a configuration with the project and reports what applying it would create, change and delete, which secrets somebody has to set, and how the newest ' +
      `stored payloads would be routed differently. It writes nothing, so every role may use it. It looks at ${configPayloadsDefault} payloads unless \`recent\` says otherwise.`,
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
        .describe('How many of the newest stored payloads to route by both; 0: none.'),
    }),
    output: z.object({ plan: Plan }),
  }),
  apply: defineRoute({
    method: 'POST',
    area: 'project',
    path: 'config/apply',
    summary: 'Apply a configuration',
    description:
      'Makes the project what the configuration says, in one transaction: all of it, or nothing. Each change has its audit row. With `plan` it is refused with 409 ' +
      '`project_changed` when the project has changed since that plan. Endpoints get URLs and destinations get signing secrets of their project; nothing secret is in the answer. ' +
      `One call makes at most ${configChangesMax.toLocaleString('en')} changes.`,
    ...WRITE,
    status: 200,
    body: z.strictObject({
      config: Config,
      delete_missing: DeleteMissing,
      plan: z
        .string()
        .max(200)
        .optional()
        .describe('The id of the plan that you agree with. Absent: applied to the project as it is now.'),
    }),
    output: z.object({
      applied: Outcome.extend({ create: z.array(Item), change: z.array(Item), delete: z.array(Item) }),
    }),
  }),
} as const
