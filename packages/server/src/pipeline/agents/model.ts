import type { LanguageModelV4, LanguageModelV4CallOptions, LanguageModelV4Prompt } from '@ai-sdk/provider'
import type { AnswerPart } from '../../domain/automation/ai/conversation.ts'

/** A provider, opened for one run. */
export type OpenProvider = {
  readonly kind: 'openai_compatible' | 'openai' | 'anthropic'
  readonly base_url: string
  readonly apiKey: string | undefined
  readonly model: string
  readonly structured_outputs: boolean
}

export type ToolDefinition = {
  readonly name: string
  readonly description: string
  readonly schema: Readonly<Record<string, unknown>>
}

export type Asked = {
  readonly prompt: LanguageModelV4Prompt
  readonly tools: readonly ToolDefinition[]
  /** The tool that the model must call; undefined: the model chooses. */
  readonly force: string | undefined
  /** The schema of a final answer that the provider enforces. */
  readonly schema: Readonly<Record<string, unknown>> | undefined
  readonly maxOutputTokens: number
}

export type Answered = {
  readonly content: readonly AnswerPart[]
  readonly inputTokens: number
  readonly outputTokens: number
  /** The answer was cut off at the limit of its tokens. */
  readonly cutOff: boolean
}

/** Calls the model once. It never repeats a call: the run does, and counts it. Rethrows errors of the client. */
export async function askModel(provider: OpenProvider, fetchGuarded: typeof fetch, asked: Asked): Promise<Answered> {
  const model = await openModel(provider, fetchGuarded)
  const result = await model.doGenerate(optionsOf(asked))
  const { inputTokens, outputTokens } = result.usage
  return {
    content: result.content.flatMap((part): readonly AnswerPart[] => {
      if (part.type === 'text') return [{ type: 'text', text: part.text }]
      if (part.type !== 'tool-call') return []
      return [
        { type: 'tool-call', toolCallId: part.toolCallId, toolName: part.toolName, input: argumentsOf(part.input) },
      ]
    }),
    inputTokens: inputTokens.total ?? 0,
    outputTokens: outputTokens.total ?? 0,
    cutOff: result.finishReason.unified === 'length',
  }
}

/** Each client is loaded on the first run that uses it: most servers use none, and the three take 25 MiB. */
async function openModel(
  { kind, base_url: baseURL, apiKey, model, structured_outputs: supportsStructuredOutputs }: OpenProvider,
  fetchGuarded: typeof fetch,
): Promise<LanguageModelV4> {
  const shared = { baseURL, fetch: fetchGuarded }
  switch (kind) {
    case 'openai': {
      const { createOpenAI } = await import('@ai-sdk/openai')
      return createOpenAI({ ...shared, apiKey: apiKey ?? '' }).chat(model)
    }
    case 'anthropic': {
      const { createAnthropic } = await import('@ai-sdk/anthropic')
      return createAnthropic({ ...shared, apiKey: apiKey ?? '' })(model)
    }
    case 'openai_compatible': {
      const { createOpenAICompatible } = await import('@ai-sdk/openai-compatible')
      return createOpenAICompatible({
        ...shared,
        name: 'openai_compatible',
        supportsStructuredOutputs,
        ...(apiKey === undefined ? {} : { apiKey }),
      })(model)
    }
  }
}

function optionsOf({ prompt, tools, force, schema, maxOutputTokens }: Asked): LanguageModelV4CallOptions {
  return {
    prompt,
    maxOutputTokens,
    ...(tools.length === 0
      ? {}
      : {
          tools: tools.map(({ name, description, schema: inputSchema }) => ({
            type: 'function' as const,
            name,
            description,
            inputSchema,
          })),
          toolChoice: force === undefined ? { type: 'auto' as const } : { type: 'tool' as const, toolName: force },
        }),
    ...(schema === undefined ? {} : { responseFormat: { type: 'json' as const, schema, name: 'output' } }),
  }
}

/** Arguments that are not JSON stay text, and the tool refuses them. */
function argumentsOf(input: string): unknown {
  try {
    return input === '' ? {} : (JSON.parse(input) as unknown)
  } catch {
    return input
  }
}
