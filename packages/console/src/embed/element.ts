/**
 * `<postroad-portal>`: a customer portal in a page of another product. This file is the whole script at /portal/embed.js, so it imports
 * nothing. No URL ever contains the token: the frame gets it by a message, after it has asked for one.
 */

/** The height until the frame has reported one. */
const FIRST_HEIGHT_PX = 480
/** After an access ends for one of these reasons, a new token opens the portal again. */
const RENEWED: ReadonlySet<string> = new Set(['expired', 'other_customer'])
const RENEWED_EVERY_MS = 60_000
const THEMES: readonly string[] = ['light', 'dark', 'system']

class PostroadPortal extends HTMLElement {
  static readonly observedAttributes = ['src', 'theme', 'token', 'token-url']

  /** Set this to fetch tokens without `token-url`. It returns a token, or an object with a `token`. */
  getToken: (() => Promise<unknown>) | undefined

  readonly #frame = document.createElement('iframe')
  #origin: string | undefined
  /** A page that was asked for a token and has not answered yet is not asked again. */
  #asking: Promise<void> | undefined
  #renewedAt = -Infinity
  /** An element that is in the page before this script gets its attributes before it is connected. */
  #isOn = false

  constructor() {
    super()
    const root = this.attachShadow({ mode: 'open' })
    this.#frame.title = 'Webhooks'
    this.#frame.referrerPolicy = 'no-referrer'
    this.#frame.allow = 'clipboard-write'
    Object.assign(this.#frame.style, {
      border: '0',
      width: '100%',
      display: 'block',
      height: `${FIRST_HEIGHT_PX}px`,
      colorScheme: 'normal',
    })
    root.append(this.#frame)
  }

  connectedCallback(): void {
    this.#isOn = true
    if (this.style.display === '') this.style.display = 'block'
    addEventListener('message', this.#hear)
    this.#load()
  }

  disconnectedCallback(): void {
    this.#isOn = false
    removeEventListener('message', this.#hear)
  }

  attributeChangedCallback(name: string, before: string | null, now: string | null): void {
    if (before === now || !this.#isOn) return
    if (name === 'src') this.#load()
    if (name === 'theme') this.#sayTheme()
    if (name === 'token' || name === 'token-url') this.refresh()
  }

  /** Opens a new session with a new token, for example when another person has signed in. */
  refresh(): void {
    void this.#giveToken()
  }

  #load(): void {
    const url = urlIn(this.getAttribute('src') ?? '')
    if (url === undefined) return
    this.#origin = url.origin
    url.hash = ''
    if (this.#frame.src !== url.href) this.#frame.src = url.href
  }

  readonly #hear = ({ source, origin, data }: MessageEvent<unknown>): void => {
    if (source !== this.#frame.contentWindow || origin !== this.#origin) return
    if (typeof data !== 'object' || data === null || !('type' in data)) return
    switch (data.type) {
      case 'portal:token-wanted':
        this.#say({ type: 'portal:hello' })
        this.#sayTheme()
        void this.#giveToken()
        break
      case 'portal:height':
        if ('height' in data && typeof data.height === 'number')
          this.#frame.style.height = `${Math.ceil(data.height)}px`
        break
      case 'portal:entered':
        this.dispatchEvent(new CustomEvent('portal-entered'))
        break
      case 'portal:ended':
        this.#ended('end' in data ? String(data.end) : '')
        break
    }
  }

  /** Renews an expired access silently, unless it was just renewed: another token would not help then. */
  #ended(reason: string): void {
    this.dispatchEvent(new CustomEvent('portal-ended', { detail: { reason } }))
    if (!RENEWED.has(reason) || performance.now() - this.#renewedAt < RENEWED_EVERY_MS) return
    this.#renewedAt = performance.now()
    void this.#giveToken()
  }

  #sayTheme(): void {
    const theme = this.getAttribute('theme')
    if (theme !== null && THEMES.includes(theme)) this.#say({ type: 'portal:theme', theme })
  }

  async #giveToken(): Promise<void> {
    this.#asking ??= this.#find().then(
      (token) => this.#say({ type: 'portal:token', token: token ?? null }),
      (error: unknown) => {
        this.dispatchEvent(new CustomEvent('portal-error', { detail: { error } }))
        this.#say({ type: 'portal:token', token: null })
      },
    )
    await this.#asking
    this.#asking = undefined
  }

  async #find(): Promise<string | undefined> {
    if (this.getToken !== undefined) return tokenIn(await this.getToken())
    const address = this.getAttribute('token-url')
    if (address === null) return this.getAttribute('token') ?? undefined
    const response = await fetch(address, { method: 'POST', headers: { Accept: 'application/json' } })
    if (!response.ok) throw new Error(`${address} returned ${response.status}.`)
    return tokenIn(await response.json())
  }

  #say(message: object): void {
    // Only the portal may read it: the message can contain the token.
    if (this.#origin !== undefined) this.#frame.contentWindow?.postMessage(message, this.#origin)
  }
}

function urlIn(text: string): URL | undefined {
  try {
    const url = new URL(text, document.baseURI)
    return url.protocol === 'https:' || url.protocol === 'http:' ? url : undefined
  } catch {
    return undefined
  }
}

function tokenIn(given: unknown): string | undefined {
  if (typeof given === 'string') return given
  return typeof given === 'object' && given !== null && 'token' in given && typeof given.token === 'string'
    ? given.token
    : undefined
}

if (customElements.get('postroad-portal') === undefined) customElements.define('postroad-portal', PostroadPortal)
