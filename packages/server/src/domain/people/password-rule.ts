import { LIMITS } from '@postroad/contract'

/** The core words of lists of leaked passwords, without the digits and signs around them. */
const COMMON = new Set(
  `password passwort passwd passphrase motdepasse contrasena qwerty qwertyuiop qwertyuiopasdfghjkl qwertz azerty asdfghjkl zxcvbnm qazwsx
  qazwsxedc letmein welcome admin administrator root user username login changeme default secret iloveyou sunshine princess dragon monkey
  football baseball basketball superman batman starwars pokemon master shadow michael jennifer trustno test tester testing guest hello
  helloworld freedom whatever computer internet samsung google facebook microsoft apple summer winter spring autumn january february march
  april june july august september october november december monday friday sunday correcthorsebatterystaple postroad webhook webhooks`.split(
    /\s+/,
  ),
)
const RUNS = [
  '01234567890',
  'abcdefghijklmnopqrstuvwxyz',
  'qwertyuiop',
  'asdfghjkl',
  'zxcvbnm',
  '1q2w3e4r5t6y7u8i9o0p',
  '1qaz2wsx3edc4rfv5tgb6yhn',
  'q1w2e3r4t5y6',
]
const DIFFERENT_MIN = 5

/**
 * The reason why a password is refused, as a sentence; undefined when it may be used. The rule: at least 12 characters, 5 of
 * them different, and more than a common password, the person's own address, a run of keys or a repetition with digits around
 * it.
 */
export function validatePassword(password: string, email: string | null): string | undefined {
  const { passwordCharsMin: min } = LIMITS
  const characters = Array.from(password)
  if (characters.length < min)
    return `The password has ${characters.length} characters; use at least ${min}. Three or four unrelated words work well.`
  const plain = password.toLowerCase().normalize('NFKC')
  if (new Set(plain).size < DIFFERENT_MIN)
    return `The password has fewer than ${DIFFERENT_MIN} different characters. Use more.`
  const core = bare(plain)
  const own = (email ?? '')
    .toLowerCase()
    .split(/[@.]/)
    .filter((part) => part.length > 3)
  if (own.some((part) => bare(plain.replaceAll(part, '')).length < DIFFERENT_MIN))
    return 'The password is too similar to your email address. Use something else.'
  if (isCommon(core) || isRun(plain))
    return 'The password is among the first that attackers try. Use something else: three or four unrelated words work well.'
  return undefined
}

/** Without the characters that people put around a word: `P4ssw0rd!2026` becomes `password`. */
function bare(plain: string): string {
  const trimmed = plain.replace(/^[^\p{L}]+/u, '').replace(/[\d\p{P}\p{S}\s]+$/u, '')
  return trimmed.replaceAll(/[013457@$!]/g, (sign) => LEET[sign] ?? sign).replaceAll(/[^\p{L}]/gu, '')
}

const LEET: Readonly<Record<string, string>> = {
  0: 'o',
  1: 'i',
  3: 'e',
  4: 'a',
  5: 's',
  7: 't',
  '@': 'a',
  $: 's',
  '!': 'i',
}

/** One common word, two of them, or one repeated several times; or almost only digits. */
function isCommon(core: string): boolean {
  if (core.length < 4 || COMMON.has(core)) return true
  for (let cut = 3; cut < core.length - 2; cut += 1) {
    if (COMMON.has(core.slice(0, cut)) && COMMON.has(core.slice(cut))) return true
  }
  const unit = /^(.+?)\1+$/u.exec(core)?.[1]
  return unit !== undefined && (unit.length < 4 || COMMON.has(unit))
}

/** Consists of runs of neighboring keys, forwards or backwards, with at least three keys each. */
function isRun(plain: string): boolean {
  const rows = RUNS.flatMap((run) => [run, Array.from(run).toReversed().join('')])
  let at = 0
  while (at < plain.length) {
    let length = plain.length - at
    while (length >= 3 && !rows.some((row) => row.includes(plain.slice(at, at + length)))) length -= 1
    if (length < 3) return false
    at += length
  }
  return true
}
