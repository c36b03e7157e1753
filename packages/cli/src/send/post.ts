import type { Accepted } from '@postroad/contract'
import { unreachable } from '../failure.ts'
import { http } from '../http.ts'

const TIMEOUT_MS = 30_000

/** Sends an event to an endpoint as a sender does. Throws the refusal of the endpoint. */
export async function postEvent(
  url: string,
  { body, headers }: { readonly body: Buffer; readonly headers: Readonly<Record<string, string>> },
): Promise<Accepted> {
  const { refusalIn } = await import('@postroad/sdk')
  let response: Response
  try {
    response = await http(url, {
      method: 'POST',
      headers: { 'Content-Type': 'application/json', Prefer: 'return=representation', ...headers },
      body: new Uint8Array(body),
      signal: AbortSignal.timeout(TIMEOUT_MS),
    })
  } catch (cause) {
    throw await unreachable(url, cause)
  }
  if (!response.ok) throw await refusalIn(response)
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the body of a 200 or 201 response of an endpoint (contract part 4)
  return (await response.json()) as Accepted
}
