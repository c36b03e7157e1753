import { SCOPES, type Scope } from '@postroad/contract'

/** The highest scope that the client asks for, or the lowest scope if it asks for none. */
export function askedScope(text: string | null | undefined): Scope {
  const asked = (text ?? '').split(' ')
  return SCOPES.findLast((scope) => asked.includes(scope)) ?? SCOPES[0]
}
