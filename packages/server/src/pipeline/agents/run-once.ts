import { createHash } from 'node:crypto'
import type { LanguageModelV4Prompt } from '@ai-sdk/provider'
import { encodeId, LIMITS, type AgentTool } from '@postroad/contract'
import {
  nextAction,
  SUBMIT_TOOL,
  type AnswerPart,
  type DoneStep,
  type Repair,
  type ToolCall,
} from '../../domain/automation/ai/conversation.ts'
import { systemMessage, userMessage } from '../../domain/automation/ai/prompt.ts'
import { DbError } from '../../platform/db.ts'
import {
  listRunSteps,
  takeSlot,
  requeueRun,
  type ClaimedRun,
  type NewStep,
} from '../../resources/automation/ai-runs/queries.ts'
import { failureOf, type ModelFailure } from './failure.ts'
import { guardedFetch } from './guarded-fetch.ts'
import { askModel, type Answered, type Asked, type ToolDefinition } from './model.ts'
import { openRun, type OpenRun } from './open-run.ts'
import type { AgentDeps } from './ports.ts'
import { addStep, addTokens, emit, end, retryLater, RunLost } from './settle.ts'
import { EmitInput, readByTool, sentenceOf, TOOLS } from './tools.ts'

/** One attempt at a claimed run, until the run ends, is scheduled again, or loses its lease. It never rejects. */
export async function runOnce(deps: AgentDeps, run: ClaimedRun): Promise<void> {
  try {
    if (await waitsForSlot(deps, run)) return
    const opened = await openRun(deps, run)
    if ('skipped' in opened)
      return await end(deps, run, {
        end: { state: 'skipped', output: null, error: opened.skipped },
        record: undefined,
      })
    await converse(deps, run, opened)
  } catch (cause) {
    if (cause instanceof RunLost) return
    deps.retryLog.warn('ai_run.not_settled', { cause })
  }
}

/** A run of a trigger takes a slot of its rate once. Until the slot comes, the run goes back into the queue. */
async function waitsForSlot(deps: AgentDeps, run: ClaimedRun): Promise<boolean> {
  if (run.trigger_id === null || run.has_slot) return false
  const now = new Date(deps.clock.now())
  const at = { workspaceId: run.workspace_id, projectId: run.project_id }
  const slot = await takeSlot(deps.database, { ...at, triggerId: run.trigger_id, now })
  if (slot === undefined || slot <= now) return false
  await requeueRun(deps.database, run, { dueAt: slot, error: run.error, countsAttempt: false, hasSlot: true, now })
  return true
}

async function converse(deps: AgentDeps, run: ClaimedRun, opened: OpenRun): Promise<void> {
  const endsAt = deps.clock.now() + opened.timeoutMs
  const steps = await storedSteps(deps, run)
  for (;;) {
    const next = nextAction(steps, opened)
    switch (next.do) {
      case 'succeed':
        return end(deps, run, {
          end: { state: 'succeeded', output: next.output, error: null },
          record: recordOf(opened, next.output),
        })
      case 'fail':
        return end(deps, run, {
          end: { state: 'failed', output: null, error: { reason: next.reason, error: next.error } },
          record: undefined,
        })
      case 'call':
        // oxlint-disable-next-line no-await-in-loop -- one step after another
        steps.push(await callTool(deps, run, { opened, call: next.call, seq: steps.length }))
        continue
      case 'ask': {
        const leftMs = endsAt - deps.clock.now()
        if (leftMs <= 0) return retryLater(deps, run, { error: timedOut(opened), afterMs: undefined })
        // oxlint-disable-next-line no-await-in-loop -- as above
        const asked = await ask(deps, run, { opened, steps, repairs: next.repairs, timeoutMs: leftMs })
        if ('mayPass' in asked) {
          const error = { reason: asked.reason, error: asked.error }
          return asked.mayPass
            ? retryLater(deps, run, { error, afterMs: asked.afterMs })
            : end(deps, run, { end: { state: 'failed', output: null, error }, record: undefined })
        }
        steps.push(asked)
      }
    }
  }
}

const timedOut = ({ timeoutMs }: OpenRun) => ({
  reason: 'timeout',
  error: `The run did not finish within ${timeoutMs / 1_000} seconds, the timeout of the agent.`,
})

/** A payload is an object or a list, so text becomes a member of an object. */
function recordOf({ outputDataset, schema }: OpenRun, output: unknown) {
  if (outputDataset === null) return undefined
  return { dataset: outputDataset, data: schema === null ? { text: output } : output }
}

async function storedSteps({ database }: AgentDeps, run: ClaimedRun): Promise<DoneStep[]> {
  const at = { workspaceId: run.workspace_id, projectId: run.project_id }
  const rows = await listRunSteps(database, { ...at, runId: run.id })
  return rows.map((row) =>
    row.kind === 'model'
      ? // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- written by `ask`
        { kind: 'model', content: row.content as readonly AnswerPart[] }
      : { kind: 'tool', callId: row.call_id ?? '', tool: row.tool ?? '', output: row.output, error: row.error },
  )
}

type Asking = {
  readonly opened: OpenRun
  readonly steps: readonly DoneStep[]
  readonly repairs: readonly Repair[]
  readonly timeoutMs: number
}

/** Calls the model and commits its answer. */
async function ask(deps: AgentDeps, run: ClaimedRun, asking: Asking): Promise<DoneStep | ModelFailure> {
  const { opened, steps } = asking
  const answer = await answerOf(deps, run, asking)
  if ('mayPass' in answer) return answer
  const used = {
    inputTokens: answer.inputTokens,
    outputTokens: answer.outputTokens,
    costMicros: costOf(opened, answer),
  }
  const { content, cutOff } = answer
  try {
    if (cutOff && content.length === 0) {
      await addTokens(deps, run, used)
      return cutOffAt(opened)
    }
    await addStep(deps, run, { ...EMPTY, ...used, seq: steps.length, kind: 'model', output: textOf(content), content })
    return { kind: 'model', content }
  } catch (cause) {
    // The provider is not at fault when the database is away.
    if (cause instanceof RunLost || (cause instanceof DbError && cause.unavailable)) throw cause
    return NOT_STORED
  }
}

const cutOffAt = ({ maxOutputTokens }: OpenRun): ModelFailure => ({
  reason: 'answer_cut_off',
  error: `The model response needs more than ${maxOutputTokens} tokens. Raise max_output_tokens.`,
  mayPass: false,
  afterMs: undefined,
})

const NOT_STORED: ModelFailure = {
  reason: 'invalid_answer',
  error: 'The provider response cannot be stored. Its lists or numbers may be too large.',
  mayPass: true,
  afterMs: undefined,
}

async function answerOf(
  deps: AgentDeps,
  run: ClaimedRun,
  { timeoutMs, ...asking }: Asking,
): Promise<Answered | ModelFailure> {
  try {
    const fetchGuarded = guardedFetch(deps.outbound, { timeoutMs, lane: run.agent_id })
    return await askModel(asking.opened.provider, fetchGuarded, {
      prompt: promptOf(run, asking),
      ...formOf(asking),
      maxOutputTokens: asking.opened.maxOutputTokens,
    })
  } catch (cause) {
    return failureOf(cause)
  }
}

/** How the model returns its output: in a form that the provider enforces, or by a tool that it is forced to call. */
function formOf({ opened, steps, repairs }: Omit<Asking, 'timeoutMs'>): Pick<Asked, 'tools' | 'force' | 'schema'> {
  const { provider, schema, maxSteps } = opened
  const tools = opened.tools.map((tool) => TOOLS[tool])
  if (schema === null) return { tools, force: undefined, schema: undefined }
  if (provider.structured_outputs) return { tools, force: undefined, schema }
  const isLast = steps.filter((step) => step.kind === 'model').length + 1 >= maxSteps
  const mustSubmit = tools.length === 0 || isLast || repairs.length > 0
  return { tools: [...tools, submitTool(schema)], force: mustSubmit ? SUBMIT_TOOL : undefined, schema: undefined }
}

const EMPTY = {
  tool: null,
  callId: null,
  input: null,
  error: null,
  content: null,
  inputTokens: 0,
  outputTokens: 0,
  costMicros: null,
} as const

const submitTool = (schema: Readonly<Record<string, unknown>>): ToolDefinition => ({
  name: SUBMIT_TOOL,
  description: 'Returns your final output. Call it once, when you are done.',
  schema,
})

const textOf = (content: readonly AnswerPart[]): string =>
  content
    .map((part) => (part.type === 'text' ? part.text : `→ ${part.toolName}`))
    .join('\n')
    .slice(0, LIMITS.agentToolResultCharsMax)

/** Prices are for a million tokens, so tokens × price are millionths. */
const costOf = ({ prices }: OpenRun, used: { inputTokens: number; outputTokens: number }): number | null =>
  prices === undefined ? null : Math.round(used.inputTokens * prices.input + used.outputTokens * prices.output)

function promptOf(run: ClaimedRun, { opened, steps, repairs }: Omit<Asking, 'timeoutMs'>): LanguageModelV4Prompt {
  // The marker is the same in every attempt. Senders cannot know it, because they see no run id before the run exists.
  const marker = createHash('sha256').update(`input of ${run.id}`).digest('hex').slice(0, 24)
  const input = opened.input.slice(0, LIMITS.agentInputCharsMax)
  const prompt: LanguageModelV4Prompt = [
    { role: 'system', content: systemMessage(opened.instructions, { schema: opened.schema !== null }) },
    { role: 'user', content: [{ type: 'text', text: userMessage(input, marker) }] },
  ]
  for (const [index, step] of steps.entries()) {
    if (step.kind === 'model') prompt.push({ role: 'assistant', content: [...step.content] })
    else prompt.push({ role: 'tool', content: [resultOf(step)] })
    const repair = repairs.find(({ after }) => after === index)
    if (repair === undefined) continue
    const calls = step.kind === 'model' ? step.content.filter((part) => part.type === 'tool-call') : []
    if (calls.length === 0) prompt.push({ role: 'user', content: [{ type: 'text', text: repair.text }] })
    // Providers refuse a conversation in which a call has no result.
    else prompt.push({ role: 'tool', content: calls.map((one) => correctionOf(one, repair)) })
  }
  return prompt
}

function correctionOf(
  { toolCallId, toolName }: Extract<AnswerPart, { type: 'tool-call' }>,
  { text }: Repair,
): ReturnType<typeof resultOf> {
  const error =
    toolName === SUBMIT_TOOL ? text : 'This tool was not called, because you also returned your final output.'
  return resultOf({ callId: toolCallId, tool: toolName, output: null, error })
}

const resultOf = ({ callId, tool, output, error }: Omit<Extract<DoneStep, { kind: 'tool' }>, 'kind'>) => ({
  type: 'tool-result' as const,
  toolCallId: callId,
  toolName: tool,
  output:
    error === null
      ? { type: 'text' as const, value: JSON.stringify(output) }
      : { type: 'error-text' as const, value: error },
})

/** Runs a tool that the model asked for, and commits its result. A tool that the agent does not have is refused. */
async function callTool(
  deps: AgentDeps,
  run: ClaimedRun,
  { opened, call, seq }: { opened: OpenRun; call: ToolCall; seq: number },
): Promise<DoneStep> {
  const stepWith = (done: { output: unknown; error: string | null }): NewStep => ({
    ...EMPTY,
    ...done,
    seq,
    kind: 'tool',
    tool: call.tool,
    callId: call.id,
    input: call.input,
  })
  let step: NewStep
  const tool = opened.tools.find((one): one is AgentTool => one === call.tool)
  if (tool === 'emit_event') {
    const input = EmitInput.safeParse(call.input)
    if (input.success) {
      step = stepWith({ output: null, error: null })
      await emit(deps, run, {
        event: { dataset: input.data.dataset, data: input.data.data ?? null },
        stepOf: (outcome) => {
          step =
            outcome?.kind === 'stored'
              ? stepWith({ output: { record_id: encodeId('record', outcome.event.records[0]?.id ?? '') }, error: null })
              : stepWith({ output: null, error: `The event was not stored: ${reasonOf(outcome)}` })
          return step
        },
      })
      return doneOf(step)
    }
    step = stepWith({ output: null, error: sentenceOf(input.error) })
  } else if (tool === undefined) {
    step = stepWith({ output: null, error: `There is no tool ${JSON.stringify(call.tool)} for this agent.` })
  } else {
    const at = { workspaceId: run.workspace_id, projectId: run.project_id }
    const tools = { db: deps.database.forWorkspace(at.workspaceId), heavy: deps.heavy }
    const tried = await readByTool(tools, at, { tool, input: call.input })
    step = stepWith(tried.ok ? { output: tried.output, error: null } : { output: null, error: tried.error })
  }
  await addStep(deps, run, step)
  return doneOf(step)
}

const doneOf = ({ callId, tool, output, error }: NewStep): DoneStep => ({
  kind: 'tool',
  callId: callId ?? '',
  tool: tool ?? '',
  output,
  error,
})

function reasonOf(
  outcome: { readonly kind: string; readonly text?: string; readonly reason?: string } | undefined,
): string {
  return outcome?.text ?? outcome?.reason ?? outcome?.kind ?? 'unknown'
}
