import type { Stage } from './stage.ts'

/** The requests of an operator to the API. They reject unless the answer is 2xx. */
export type Operator = (method: string, path: string, body?: object) => Promise<void>

const PATIENCE_MS = 20_000

/** Signs the owner in by the link that the server prints. The installation has one owner, who is its operator. */
export async function signInOperator(stage: Stage): Promise<Operator> {
  const { code, printed, said } = await stage.command(['sign-in-link', '--json'])
  if (code !== 0) throw new Error(`sign-in-link ended with ${code}: ${said}`)
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- what `sign-in-link --json` prints
  const { sign_in_url: url } = JSON.parse(printed) as { sign_in_url: string }
  const headers = { 'content-type': 'application/json', 'x-requested-with': 'chaos' }
  const ask = async (line: { method: string; path: string; body?: object; cookie?: string }): Promise<Response> => {
    const response = await fetch(`${new URL(stage.endpoint).origin}/admin/api/${line.path}`, {
      method: line.method,
      headers: { ...headers, ...(line.cookie === undefined ? {} : { cookie: line.cookie }) },
      ...(line.body === undefined ? {} : { body: JSON.stringify(line.body) }),
      signal: AbortSignal.timeout(PATIENCE_MS),
    })
    if (!response.ok)
      throw new Error(`${line.method} ${line.path} answered ${response.status}: ${await response.text()}`)
    return response
  }
  const token = new URL(url).hash.slice('#t='.length)
  const signedIn = await ask({ method: 'POST', path: 'session', body: { token } })
  const cookie = signedIn.headers.get('set-cookie')?.split(';')[0] ?? ''
  return async (method, path, body) => {
    const response = await ask({ method, path, cookie, ...(body === undefined ? {} : { body }) })
    await response.arrayBuffer()
  }
}
