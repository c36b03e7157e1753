/** The URL of a program: a port, a host with a port, or a whole URL. undefined for any other text. */
export function localUrlOf(text: string): string | undefined {
  const trimmed = text.trim()
  const whole = /^\d{1,5}$/.test(trimmed)
    ? `http://localhost:${trimmed}/`
    : /^https?:\/\//i.test(trimmed)
      ? trimmed
      : `http://${trimmed}`
  return trimmed !== '' && URL.canParse(whole) ? new URL(whole).href : undefined
}
