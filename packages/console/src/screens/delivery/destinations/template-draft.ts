import type { Destination } from '../../../data/lists.ts'

/** The template of a body in a form; null: the envelope. */
export type TemplateDraft = string | null

type Template = Record<string, unknown> | unknown[] | null

export function templateDraftOf({ payload_template }: Pick<Destination, 'payload_template'>): TemplateDraft {
  return payload_template === null || payload_template === undefined ? null : JSON.stringify(payload_template, null, 2)
}

/** The request body of a draft, or its fault; the server checks names and filters. */
export function templateOf(draft: TemplateDraft): { readonly template: Template } | { readonly problem: string } {
  if (draft === null) return { template: null }
  try {
    const read: unknown = JSON.parse(draft)
    if (Array.isArray(read)) return { template: read }
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- JSON that is an object and not a list
    if (typeof read === 'object' && read !== null) return { template: read as Record<string, unknown> }
    return { problem: 'A template must be a JSON object or an array.' }
  } catch (error) {
    return { problem: `This is not valid JSON: ${error instanceof Error ? error.message : String(error)}` }
  }
}

/** The start of a custom body. */
export const FIRST_TEMPLATE = JSON.stringify(
  { event: '{{ id }}', type: '{{ dataset }}', at: '{{ received_at }}', data: '{{ data }}' },
  null,
  2,
)
