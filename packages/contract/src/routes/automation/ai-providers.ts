import { z } from 'zod'
import { idInput, idOutput } from '../../ids.ts'
import { LIMITS } from '../../limits.ts'
import { Deleted, ListQuery, listOf, Name, storable, Text, Timestamp } from '../../list.ts'
import { defineRoute, READ, WRITE } from '../../route.ts'

const KINDS = ['openai', 'openai_compatible', 'anthropic'] as const
const Kind = z.enum(KINDS)
const BaseUrl = storable(z.url({ protocol: /^https?$/ }))
  .max(2_048)
  .describe('The address before `/chat/completions` or `/messages`, such as `https://api.example.com/v1`.')
const Model = Text.min(1).max(LIMITS.aiModelCharsMax)
const Key = Text.min(1).max(LIMITS.aiProviderKeyCharsMax)
const StructuredOutputs = z
  .boolean()
  .describe('Whether the server enforces a JSON Schema. Without it, Postroad asks for the output as a tool call.')

export const AiProvider = z.object({
  id: idOutput('aiProvider'),
  name: z.string(),
  kind: Kind,
  base_url: z.string(),
  default_model: z.string(),
  structured_outputs: StructuredOutputs,
  has_api_key: z.boolean(),
  created_at: Timestamp,
  updated_at: Timestamp,
})

const at = z.object({ id: idInput('aiProvider') })
const one = z.object({ ai_provider: AiProvider })

export const aiProviders = {
  list: defineRoute({
    method: 'GET',
    area: 'project',
    path: 'ai-providers',
    summary: 'List AI providers',
    description: 'The language model servers that the project’s agents use, newest first. Keys are never returned.',
    ...READ,
    status: 200,
    query: ListQuery,
    output: listOf('ai_providers', AiProvider),
  }),
  create: defineRoute({
    method: 'POST',
    area: 'project',
    path: 'ai-providers',
    summary: 'Create an AI provider',
    description:
      'Stores the address and the key of a language model server. The key is encrypted and never returned. ' +
      'A server at a private address needs OUTBOUND_ALLOW, as with destinations.',
    ...WRITE,
    status: 201,
    body: z.strictObject({
      name: Name,
      kind: Kind.describe('`openai_compatible` covers Ollama, vLLM, llama.cpp, LM Studio, OpenRouter and others.'),
      base_url: BaseUrl.optional().describe(
        'Required for `openai_compatible`. Optional for the others, whose address is known.',
      ),
      api_key: Key.optional().describe('Write-only. Leave out if the server needs no key.'),
      default_model: Model,
      structured_outputs: StructuredOutputs.optional(),
    }),
    output: one,
  }),
  get: defineRoute({
    method: 'GET',
    area: 'project',
    path: 'ai-providers/{id}',
    summary: 'Get an AI provider',
    description: 'One provider of the project.',
    ...READ,
    status: 200,
    params: at,
    output: one,
  }),
  update: defineRoute({
    method: 'PATCH',
    area: 'project',
    path: 'ai-providers/{id}',
    summary: 'Change an AI provider',
    description:
      'Updates only the fields that you send. Postroad sends the stored key only to the address that it was set for, so a new `base_url` requires the key again.',
    ...WRITE,
    status: 200,
    params: at,
    body: z.strictObject({
      name: Name.optional(),
      base_url: BaseUrl.optional(),
      api_key: Key.nullable().optional(),
      default_model: Model.optional(),
      structured_outputs: StructuredOutputs.optional(),
    }),
    output: one,
  }),
  remove: defineRoute({
    method: 'DELETE',
    area: 'project',
    path: 'ai-providers/{id}',
    summary: 'Delete an AI provider',
    description: 'Deletes the provider and its key. Refused while an agent uses it.',
    ...WRITE,
    status: 200,
    params: at,
    output: Deleted,
  }),
  test: defineRoute({
    method: 'POST',
    area: 'project',
    path: 'ai-providers/{id}/test',
    summary: 'Test an AI provider',
    description:
      'Asks the default model for a short response. A failure is reported in the response, not as an error status.',
    ...WRITE,
    status: 200,
    waitsForOthers: true,
    params: at,
    output: z.object({
      ok: z.boolean(),
      text: z.string().nullable().describe('The model response.'),
      error: z.string().nullable(),
      duration_ms: z.int(),
    }),
  }),
} as const
