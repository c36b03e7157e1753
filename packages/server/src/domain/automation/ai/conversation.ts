import { outputProblem, type OutputSchema } from './output-schema.ts'

/** A part of a model's answer that is sent back to it. */
export type AnswerPart =
  | { readonly type: 'text'; readonly text: string }
  | { readonly type: 'tool-call'; readonly toolCallId: string; readonly toolName: string; readonly input: unknown }

/** A stored step of a run: an answer of the model, or the result of a tool. */
export type DoneStep =
  | { readonly kind: 'model'; readonly content: readonly AnswerPart[] }
  | {
      readonly kind: 'tool'
      readonly callId: string
      readonly tool: string
      readonly output: unknown
      readonly error: string | null
    }

/** The tool that a model without structured outputs calls to return its output. */
export const SUBMIT_TOOL = 'submit_output'

export type ToolCall = { readonly id: string; readonly tool: string; readonly input: unknown }

/** The next action of a run. Its stored steps alone decide it, so the run continues after a crash where it stopped. */
export type Next =
  | { readonly do: 'ask'; readonly repairs: readonly Repair[] }
  | { readonly do: 'call'; readonly call: ToolCall }
  | { readonly do: 'succeed'; readonly output: unknown }
  | { readonly do: 'fail'; readonly reason: 'max_steps_reached' | 'output_invalid'; readonly error: string }

/** The correction that the model got after the answer with this index. */
export type Repair = { readonly after: number; readonly text: string }

const REPAIRS_MAX = 1

/** The next action of a run with these steps. Pure. */
export function nextAction(
  steps: readonly DoneStep[],
  { schema, maxSteps }: { readonly schema: OutputSchema | null; readonly maxSteps: number },
): Next {
  const repairs: Repair[] = []
  for (const [index, step] of steps.entries()) {
    if (step.kind === 'tool') continue
    const calls = callsIn(step.content)
    const submitted = calls.find((call) => call.tool === SUBMIT_TOOL)
    if (calls.length > 0 && submitted === undefined) {
      const open = calls[resultsAfter(steps, index)]
      if (open !== undefined) return { do: 'call', call: open }
      continue
    }
    const read = readOutput(schema, submitted === undefined ? textIn(step.content) : submitted.input)
    if (read.ok) return { do: 'succeed', output: read.output }
    if (repairs.length >= REPAIRS_MAX) return { do: 'fail', reason: 'output_invalid', error: read.problem }
    repairs.push({
      after: index,
      text: `Your output does not match the schema. ${read.problem} Send the complete output again.`,
    })
  }
  const asked = steps.filter((step) => step.kind === 'model').length
  if (asked >= maxSteps)
    return {
      do: 'fail',
      reason: 'max_steps_reached',
      error: `The model did not finish within ${maxSteps} calls, the limit of the agent.`,
    }
  return { do: 'ask', repairs }
}

/** The results of an answer follow it in the order of its calls. Ids do not name a call, because some servers repeat them. */
function resultsAfter(steps: readonly DoneStep[], index: number): number {
  const after = steps.slice(index + 1)
  const next = after.findIndex(({ kind }) => kind === 'model')
  return next === -1 ? after.length : next
}

function callsIn(content: readonly AnswerPart[]): readonly ToolCall[] {
  return content.flatMap((part) =>
    part.type === 'tool-call' ? [{ id: part.toolCallId, tool: part.toolName, input: part.input }] : [],
  )
}

function textIn(content: readonly AnswerPart[]): string {
  return content.map((part) => (part.type === 'text' ? part.text : '')).join('')
}

type Read = { readonly ok: true; readonly output: unknown } | { readonly ok: false; readonly problem: string }

/** Without a schema the output is the text. With one it is JSON, which some models put between fences. */
function readOutput(schema: OutputSchema | null, given: unknown): Read {
  if (schema === null) return { ok: true, output: given }
  const value = typeof given === 'string' ? parsed(given) : given
  if (value === undefined) return { ok: false, problem: 'It is not JSON.' }
  const problem = outputProblem(schema, value)
  return problem === undefined ? { ok: true, output: value } : { ok: false, problem }
}

function parsed(text: string): unknown {
  const inner = /^\s*```(?:json)?\s*([\s\S]*?)```\s*$/.exec(text)?.[1] ?? text
  try {
    return JSON.parse(inner)
  } catch {
    return undefined
  }
}
