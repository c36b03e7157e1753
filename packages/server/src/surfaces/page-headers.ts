const POLICY =
  "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self' data:; font-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"

const HEADERS = {
  'X-Content-Type-Options': 'nosniff',
  'Referrer-Policy': 'no-referrer',
  'Cache-Control': 'no-cache',
} as const

/** The headers of every page and of the files that pages load: nothing inline, nothing from other origins, in no frame. */
export function pageHeaders(type: string): Record<string, string> {
  return { 'Content-Type': type, 'Content-Security-Policy': POLICY, ...HEADERS }
}

/** The same for the console, whose page may run the inline scripts with these hashes. */
export function consoleHeaders(scriptHashes: readonly string[]): Record<string, string> {
  const policy = POLICY.replace("script-src 'self'", ["script-src 'self'", ...scriptHashes].join(' '))
  return {
    'Content-Security-Policy': policy,
    'Permissions-Policy': 'camera=(), geolocation=(), microphone=(), payment=(), usb=()',
    ...HEADERS,
  }
}
