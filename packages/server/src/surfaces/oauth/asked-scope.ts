import { SCOPES, type Scope } from '@postroad/contract'

/** The highest scope that the client asks for. Without one it is the lowest. */
export function askedScope(text: string | null | undefined): Scope {
  const asked = (text ?? '').split(' ')
  return SCOPES.findLast((scope) => asked.includes(scope)) ?? SCOPES[0]
}
