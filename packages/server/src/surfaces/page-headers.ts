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

type PortalPage = {
  readonly scriptHashes: readonly string[]
  /** The sources of its logos. */
  readonly images: readonly string[]
  /** The origins whose pages may embed it. */
  readonly ancestors: readonly string[]
}

/** The same for the page of a customer portal, which pages of the portal's origins may embed. The console shows it beside its settings. */
export function portalHeaders({ scriptHashes, images, ancestors }: PortalPage): Record<string, string> {
  const headers = scripted(scriptHashes, POLICY)
  const policy = (headers['Content-Security-Policy'] ?? '')
    .replace("img-src 'self' data:", ["img-src 'self' data:", ...images].join(' '))
    .replace("frame-ancestors 'none'", ["frame-ancestors 'self'", ...ancestors].join(' '))
  return { ...headers, 'Content-Security-Policy': policy, 'Cache-Control': 'no-store' }
}

/** The same for the console, whose page may run the inline scripts with these hashes, and shows the preview of a portal in a frame. */
export function consoleHeaders(scriptHashes: readonly string[]): Record<string, string> {
  return scripted(scriptHashes, POLICY.replace("base-uri 'none'", "frame-src 'self'; base-uri 'none'"))
}

function scripted(scriptHashes: readonly string[], base: string): Record<string, string> {
  const policy = base.replace("script-src 'self'", ["script-src 'self'", ...scriptHashes].join(' '))
  return {
    'Content-Security-Policy': policy,
    'Permissions-Policy': 'camera=(), geolocation=(), microphone=(), payment=(), usb=()',
    ...HEADERS,
  }
}
