import { z } from 'zod'
import { Conditions, type Condition } from './condition.ts'
import { LIMITS } from './limits.ts'
import { DATASET_NAME, DatasetName, WritableDatasetName } from './list.ts'

/** The six steps of a workflow. Texts in `{{ }}` are templates, rendered when the step runs. */
export const STEP_TYPES = ['delay', 'wait_for_event', 'branch', 'deliver', 'emit_event', 'run_agent'] as const
export type StepType = (typeof STEP_TYPES)[number]

const StepId = z
  .string()
  .regex(DATASET_NAME, 'must begin with a letter and have at most 63 letters, digits and underscores')
  .describe('Names the step, and its output as `steps.<id>.output` in later templates. Unique in the workflow.')

const Seconds = z.int().min(1).max(LIMITS.workflowSecondsMax)

const named = {
  id: StepId,
  name: z.string().min(1).max(LIMITS.workflowNameCharsMax).optional(),
}

/** Members of the steps that act. Such a step can fail, and Postroad retries it. */
const acting = {
  ...named,
  on_error: z
    .enum(['fail', 'continue'])
    .default('fail')
    .describe('After the last failed attempt, the instance fails, or it continues without the output of the step.'),
  retry: z
    .strictObject({
      max_attempts: z.int().min(1).max(LIMITS.workflowRetriesMax).default(LIMITS.workflowRetriesDefault),
      backoff_seconds: z
        .int()
        .min(1)
        .max(LIMITS.workflowBackoffSecondsMax)
        .default(LIMITS.workflowBackoffSecondsDefault)
        .describe('The delay before the second attempt. It doubles before each further attempt, up to an hour.'),
    })
    .optional(),
}

const Delay = z
  .strictObject({
    ...named,
    type: z.literal('delay'),
    seconds: Seconds.optional(),
    until: z
      .string()
      .min(1)
      .optional()
      .describe('A template that renders an RFC 3339 time. If the time is in the past, the run continues immediately.'),
  })
  .refine(
    (step) => (step.seconds === undefined) !== (step.until === undefined),
    'needs either seconds or until, and not both',
  )

const WaitForEvent = z.strictObject({
  ...named,
  type: z.literal('wait_for_event'),
  dataset: DatasetName,
  conditions: Conditions.describe(
    'Compared with strict equality. At least one is an `equals`, by which the wait is found. Values may be templates; they are rendered once, when the wait begins.',
  ),
  since: z
    .enum(['start', 'now'])
    .optional()
    .describe(
      'The first records that the wait compares. `start`, or absent: those that were stored since the workflow instance started, without those that its earlier steps ' +
        'filed or waited for. `now`: those that are stored after the wait begins.',
    ),
  timeout_seconds: Seconds,
  on_timeout: z
    .enum(['continue', 'stop', 'fail'])
    .default('continue')
    .describe('`stop` completes the instance; `fail` fails it.'),
})

const Deliver = z.strictObject({
  ...acting,
  type: z.literal('deliver'),
  destination: z.string().min(1).describe('The id of a destination of this project.'),
  record: StepId.optional().describe(
    'An earlier emit_event step, whose record is sent. Absent: the record that started the workflow.',
  ),
  await: z
    .enum(['none', 'delivered'])
    .default('none')
    .describe('`delivered`: the step ends when the delivery ends, and fails when the delivery fails.'),
  capture_response: z
    .boolean()
    .default(false)
    .describe(
      'Whether the output has the JSON of the response as `response_body`; null: it is not JSON, or longer than 16 KiB. Needs `await: "delivered"`.',
    ),
})

const EmitEvent = z.strictObject({
  ...acting,
  type: z.literal('emit_event'),
  dataset: WritableDatasetName,
  data: z
    .unknown()
    .optional()
    .describe('The payload, with templates in its texts. Absent: the payload of the workflow.'),
  customer: z
    .string()
    .min(1)
    .max(LIMITS.workflowTemplateCharsMax)
    .optional()
    .describe(
      'The customer_id of the event, as text or as a template such as `{{ payload.account }}`. Postroad also delivers the event to the destinations of this customer. Absent, or rendered blank: the event names no customer.',
    ),
})

const RunAgent = z.strictObject({
  ...acting,
  type: z.literal('run_agent'),
  agent: z.string().min(1).describe('The id of an AI agent of this project.'),
  input: z.unknown().optional().describe('With templates in its texts. Absent: the payload of the workflow.'),
  output_schema: z
    .record(z.string(), z.unknown())
    .optional()
    .describe('A JSON Schema of an object, which replaces the schema of the agent.'),
  max_steps: z.int().min(1).max(LIMITS.agentStepsMax).optional(),
  timeout_seconds: z.int().min(1).max(LIMITS.agentTimeoutSecondsMax).optional(),
})

/** The type is explicit, because a branch has steps and a step can be a branch. */
const SubSteps: z.ZodType<Step[], SentStep[]> = z.lazy(() => z.array(Step))

const Branch = z.strictObject({
  ...named,
  type: z.literal('branch'),
  input: z
    .string()
    .min(1)
    .default('payload')
    .describe(
      'The document that the conditions read: `payload`, or the output of an earlier step as `steps.<id>.output`.',
    ),
  branches: z
    .array(
      z.strictObject({
        name: z.string().min(1).max(LIMITS.workflowNameCharsMax),
        conditions: Conditions.default([]),
        steps: SubSteps,
      }),
    )
    .min(1)
    .max(LIMITS.workflowStepsMax)
    .describe('Postroad runs the first branch whose conditions all match.'),
  else: SubSteps.optional().describe('The steps to run when no branch matches.'),
})

export const Step = z
  .discriminatedUnion('type', [Delay, WaitForEvent, Branch, Deliver, EmitEvent, RunAgent])
  .describe('One step of a workflow.')

type Plain = z.infer<typeof Delay | typeof WaitForEvent | typeof Deliver | typeof EmitEvent | typeof RunAgent>

type SentPlain = z.input<typeof Delay | typeof WaitForEvent | typeof Deliver | typeof EmitEvent | typeof RunAgent>

/** A step as it is sent. */
type SentStep =
  | SentPlain
  | {
      id: string
      name?: string | undefined
      type: 'branch'
      input?: string | undefined
      branches: {
        name: string
        conditions?: z.input<typeof Conditions> | undefined
        steps: SentStep[]
      }[]
      else?: SentStep[] | undefined
    }

/** A step as it is stored, with its defaults. */
export type Step =
  | Plain
  | {
      id: string
      name?: string | undefined
      type: 'branch'
      input: string
      branches: { name: string; conditions: Condition[]; steps: Step[] }[]
      else?: Step[] | undefined
    }

export const Steps = z.array(Step).min(1, 'must have at least one step')

export type StepOf<Type extends StepType> = Extract<Step, { readonly type: Type }>
