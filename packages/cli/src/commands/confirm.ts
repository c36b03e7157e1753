import type { Command } from 'commander'
import { agrees, canAsk } from '../ask.ts'
import { EXIT, Failure } from '../failure.ts'

export type ConfirmOptions = { readonly yes?: true }

export function withYes(command: Command): Command {
  return command.option('-y, --yes', 'do not ask')
}

/** Asks a person before something is deleted. A program must add --yes. */
export async function confirmDeletion(what: string, { yes }: ConfirmOptions): Promise<void> {
  if (yes === true) return
  if (!canAsk()) throw new Failure(`${what} Add --yes to confirm.`, EXIT.usage)
  if (!(await agrees(what, 'Delete it?'))) throw new Failure('Nothing was deleted.')
}
