import { Pool } from 'undici'

/** The work of both rivals for a job: the same POST over keep-alive connections. A status other than 2xx fails the job. */
export function createPost(port: number, connections: number): (payload: unknown) => Promise<void> {
  const pool = new Pool(`http://127.0.0.1:${port}`, { connections, pipelining: 1 })
  return async (payload) => {
    const { statusCode, body } = await pool.request({
      path: '/',
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(payload),
    })
    await body.dump()
    if (statusCode < 200 || statusCode > 299) throw new Error(`The sink answered ${statusCode}.`)
  }
}
