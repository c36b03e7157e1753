import { createInterface } from 'node:readline/promises'
import type { Command } from 'commander'
import { EXIT, Failure } from '../failure.ts'
import { complain, io } from '../io.ts'

export type ConfirmOptions = { readonly yes?: true }

export function withYes(command: Command): Command {
  return command.option('-y, --yes', 'do not ask')
}

/** Asks a person before something is deleted. A program has to add --yes. */
export async function confirmDeletion(what: string, { yes }: ConfirmOptions): Promise<void> {
  if (yes === true) return
  if (io().stdin.isTTY !== true) throw new Failure(`${what} Add --yes to do it.`, EXIT.usage)
  complain(what)
  const line = createInterface({ input: io().stdin, output: io().stderr })
  const said = await line.question('Delete it? [y/N] ').finally(() => line.close())
  if (!/^y(es)?$/i.test(said.trim())) throw new Failure('Nothing was deleted.')
}
