import type { ReactElement } from 'react'
import { usePlace } from '../data/place.ts'
import { CopyButton } from '../ui/copy.tsx'
import { cliIn } from './commands.ts'

/** A command of the CLI to copy, for the open project. */
export function CommandLine({ words }: { readonly words: string }): ReactElement {
  const { project } = usePlace()
  return <CommandBlock command={cliIn(project, words)} />
}

/** A command to copy, in the text of an empty list. */
export function CommandBlock({ command }: { readonly command: string }): ReactElement {
  return (
    <div className="mt-3 flex items-start gap-2 rounded-field bg-block py-2 pr-2 pl-4 text-left text-block-ink">
      <code className="mono min-w-0 flex-1 py-0.5 wrap-anywhere whitespace-pre-wrap select-all">
        {command.split(/(\s+)/).map((word, index) =>
          // A line does not break after the hyphens of an option.
          word.startsWith('-') ? (
            <span key={index} className="whitespace-nowrap">
              {word}
            </span>
          ) : (
            word
          ),
        )}
      </code>
      <CopyButton text={command} label="Copy the command" className="flex-none [&_svg]:text-block-ink-2" />
    </div>
  )
}
