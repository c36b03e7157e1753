/**
 * The page around a frame with the portal in it. Only pages that `frame-ancestors` of the portal allows can be there, so a message of the
 * parent window is one of theirs. `src/embed/element.ts` is the other end.
 */
export type PageAround = {
  readonly isFramed: boolean
  readonly say: (message: FromPortal) => void
  /** Calls back for each message until the returned function is called. */
  readonly listen: (hear: (message: ToPortal) => void) => () => void
}

/** None of them contains a secret, so they may go to any page that has the portal in a frame. */
export type FromPortal =
  | { readonly type: 'portal:ready' }
  | { readonly type: 'portal:height'; readonly height: number }
  | { readonly type: 'portal:token-wanted' }
  | { readonly type: 'portal:entered' }
  | { readonly type: 'portal:ended'; readonly end: string }

export type ToPortal =
  | { readonly type: 'portal:hello' }
  | { readonly type: 'portal:token'; readonly token: string | null }
  | { readonly type: 'portal:theme'; readonly theme: 'light' | 'dark' | 'system' }
  | { readonly type: 'portal:preview'; readonly looks: unknown; readonly theme: 'light' | 'dark' }

/** A page without the element does not answer. */
const HELLO_MS = 400
/** The element sometimes has to ask the product for a token. */
const TOKEN_MS = 15_000

export function pageAround(): PageAround {
  return {
    isFramed: window.parent !== window,
    say: (message) => {
      if (window.parent !== window) window.parent.postMessage(message, '*')
    },
    listen: (hear) => {
      const onMessage = ({ source, data }: MessageEvent<unknown>): void => {
        if (source !== window.parent || source === window) return
        const message = messageIn(data)
        if (message !== undefined) hear(message)
      }
      addEventListener('message', onMessage)
      return () => removeEventListener('message', onMessage)
    },
  }
}

function messageIn(data: unknown): ToPortal | undefined {
  if (typeof data !== 'object' || data === null || !('type' in data)) return undefined
  const { type } = data
  if (type === 'portal:hello') return { type }
  if (type === 'portal:token' && 'token' in data && (typeof data.token === 'string' || data.token === null))
    return { type, token: data.token }
  if (type === 'portal:theme' && 'theme' in data && isTheme(data.theme)) return { type, theme: data.theme }
  if (type === 'portal:preview' && 'looks' in data && 'theme' in data)
    return { type, looks: data.looks, theme: data.theme === 'dark' ? 'dark' : 'light' }
  return undefined
}

function isTheme(theme: unknown): theme is 'light' | 'dark' | 'system' {
  return theme === 'light' || theme === 'dark' || theme === 'system'
}

/** The token that the page around has for its customer; undefined without such a page or token. */
export async function tokenFromPage(around: PageAround): Promise<string | undefined> {
  if (!around.isFramed) return undefined
  return new Promise((resolve) => {
    let timer = setTimeout(() => end(undefined), HELLO_MS)
    const end = (token: string | undefined): void => {
      clearTimeout(timer)
      stop()
      resolve(token)
    }
    const stop = around.listen((message) => {
      if (message.type === 'portal:token') end(message.token ?? undefined)
      if (message.type !== 'portal:hello') return
      clearTimeout(timer)
      timer = setTimeout(() => end(undefined), TOKEN_MS)
    })
    around.say({ type: 'portal:token-wanted' })
  })
}
