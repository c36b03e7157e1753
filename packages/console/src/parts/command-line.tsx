import type { ReactElement } from 'react'
import { usePlace } from '../data/place.ts'
import { cliIn } from './commands.ts'

/** A command of the CLI to copy, for the open project. */
export function CommandLine({ words }: { readonly words: string }): ReactElement {
  const { project } = usePlace()
  return (
    <code className="mono mt-3 block rounded-field bg-block px-4 py-2.5 text-left text-block-ink select-all">
      {cliIn(project, words)}
    </code>
  )
}
