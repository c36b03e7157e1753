import type { Reach } from '../../../domain/delivery/destination-reach.ts'
import { compileTemplate, type Compiled } from '../../../domain/delivery/payload-template.ts'
import { refuse } from '../../../domain/refusal.ts'

/** The template, ready to be rendered, or undefined for the envelope; what could never be rendered is refused. */
export function checkTemplate(template: unknown, { auth }: Pick<Reach, 'auth'>): Compiled | undefined {
  if (template === null) return undefined
  const compiled = compileTemplate(template)
  if ('error' in compiled) throw refuse('invalid_request', compiled.error)
  if (compiled.usesSecret && auth?.kind !== 'payload')
    throw refuse(
      'invalid_request',
      'payload_template: {{ secret }} needs auth of the kind payload, which stores the secret.',
    )
  return compiled
}
