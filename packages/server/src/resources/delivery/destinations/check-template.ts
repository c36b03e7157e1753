import type { Reach } from '../../../domain/delivery/destination-reach.ts'
import { compileTemplate, type Compiled } from '../../../domain/delivery/payload-template.ts'
import { refuse } from '../../../domain/refusal.ts'

/** The compiled template, or undefined for the envelope. Refuses a template that could never be rendered. */
export function checkTemplate(template: unknown, { auth }: Pick<Reach, 'auth'>): Compiled | undefined {
  if (template === null) return undefined
  const compiled = compileTemplate(template)
  if ('error' in compiled) throw refuse('invalid_request', compiled.error)
  if (compiled.usesSecret && auth?.kind !== 'payload')
    throw refuse(
      'invalid_request',
      'payload_template: {{ secret }} requires auth of the kind payload, which stores the secret.',
    )
  return compiled
}
