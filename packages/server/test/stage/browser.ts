import type { Answer } from './harness.ts'

/**
 * A browser as far as the server can see: it stores cookies, follows no redirect, and marks requests as those of a page
 * of the server.
 */
export class Browser {
  readonly cookies = new Map<string, string>()
  readonly #baseUrl: string

  constructor(baseUrl: string) {
    this.#baseUrl = baseUrl
  }

  /** `POST session` is POST /admin/api/session; a path that begins with a slash is used unchanged. */
  async call(
    line: string,
    body?: unknown,
    headers: Record<string, string> = {},
  ): Promise<Answer & { readonly text: string }> {
    const [method = 'GET', path = ''] = line.split(' ')
    const response = await fetch(path.startsWith('/') ? this.#baseUrl + path : `${this.#baseUrl}/admin/api/${path}`, {
      method,
      redirect: 'manual',
      headers: {
        'x-requested-with': 'test',
        ...(this.cookies.size === 0 ? {} : { cookie: this.header() }),
        ...(body === undefined ? {} : { 'content-type': 'application/json' }),
        ...headers,
      },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    })
    for (const set of response.headers.getSetCookie()) this.#keep(set)
    const text = await response.text()
    const isJson = response.headers.get('content-type')?.startsWith('application/json') === true
    return { status: response.status, headers: response.headers, body: isJson ? JSON.parse(text) : text, text }
  }

  header(): string {
    return [...this.cookies].map(([name, value]) => `${name}=${value}`).join('; ')
  }

  #keep(set: string): void {
    const [pair = ''] = set.split(';')
    const [name, value] = [pair.slice(0, pair.indexOf('=')), pair.slice(pair.indexOf('=') + 1)]
    if (value === '' || set.includes('Max-Age=0')) this.cookies.delete(name)
    else this.cookies.set(name, value)
  }
}
