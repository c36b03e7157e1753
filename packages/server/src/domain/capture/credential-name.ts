/**
 * Names whose values are credentials: the names are stored with a submission, the values are not. Senders choose the names freely
 * (X-Gitlab-Token, X-Auth-Key, X-Telegram-Bot-Api-Secret-Token), so a word of the name decides.
 */
const CREDENTIAL_WORD =
  /(?:^|-)(?:authorization|auth|cookie|token|secret|password|passwd|credentials?|api-?key|access-key|session)(?:-|$)/
const NAMES_KEPT_MAX = 1_000
const known = new Map<string, boolean>()

/** The name is in lower case. The same few names recur, so each is tested once. */
export function isCredentialName(name: string): boolean {
  const before = known.get(name)
  if (before !== undefined) return before
  const found = CREDENTIAL_WORD.test(name)
  if (known.size < NAMES_KEPT_MAX) known.set(name, found)
  return found
}
