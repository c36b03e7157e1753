import { createInterface } from 'node:readline/promises'
import { complain, io } from './io.ts'

/** Whether a person can answer a question. */
export function canAsk(): boolean {
  return io().stdin.isTTY === true
}

/** Asks a question on stderr, so that stdout contains only the result of the command. */
export async function agrees(text: string, question: string): Promise<boolean> {
  complain(text)
  const line = createInterface({ input: io().stdin, output: io().stderr })
  const said = await line.question(`\n${question} [y/N] `).finally(() => line.close())
  return /^y(es)?$/i.test(said.trim())
}
