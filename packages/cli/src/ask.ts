import { Writable } from 'node:stream'
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

/** Asks for a secret, which is not shown while it is typed. */
export async function secretAsked(question: string): Promise<string> {
  const { stdin, stderr } = io()
  stderr.write(question)
  const hidden = new Writable({ write: (_chunk, _encoding, done) => done() })
  const line = createInterface({ input: stdin, output: hidden, terminal: true })
  // Ctrl-C reaches the reader of the line, because the terminal passes keys on as they are.
  line.on('SIGINT', () => line.close())
  const said = await new Promise<string>((resolve) => {
    // If a line ends with the input, its answer arrives a moment after the end.
    line.once('close', () => setImmediate(resolve, ''))
    void line.question('').then(resolve, () => resolve(''))
  }).finally(() => line.close())
  complain('')
  return said.trim()
}
