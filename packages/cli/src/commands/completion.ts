import { Argument, type Command } from 'commander'
import { say } from '../io.ts'
import { withExample } from '../options.ts'

const SHELLS = ['bash', 'zsh', 'fish'] as const
type Shell = (typeof SHELLS)[number]

export function addCompletion(program: Command): void {
  const completion = program
    .command('completion')
    .addArgument(new Argument('<shell>', 'the shell').choices(SHELLS))
    .summary('print a script that completes commands')
    .description(
      'Prints a shell completion script for commands and options. Load it in your shell startup file, and reload it after an update.',
    )
    .action((shell: Shell) => say(SCRIPTS[shell](wordsOf(program))))
  withExample(
    completion,
    'completion bash > ~/.local/share/bash-completion/completions/postroad',
    'completion zsh > ~/.zfunc/_postroad',
    'completion fish > ~/.config/fish/completions/postroad.fish',
  )
}

/** The words that can follow the words of a command: its subcommands, its options, and the choices of its arguments. */
type Words = { readonly path: string; readonly words: readonly { readonly word: string; readonly help: string }[] }

function wordsOf(command: Command, path = ''): readonly Words[] {
  const visible = command.commands.filter((one) => one.name() !== 'help')
  const own: Words = {
    path,
    words: [
      ...visible.map((one) => ({ word: one.name(), help: one.summary() })),
      ...command.registeredArguments.flatMap(({ argChoices = [] }) => argChoices.map((word) => ({ word, help: '' }))),
      ...command.options.flatMap(({ long, description }) =>
        long === undefined || long === null ? [] : [{ word: long, help: description }],
      ),
      { word: '--help', help: 'explain this command' },
    ],
  }
  const below = visible.flatMap((one) =>
    [one.name(), ...one.aliases()].flatMap((name) => wordsOf(one, path === '' ? name : `${path} ${name}`)),
  )
  return [own, ...below]
}

const SCRIPTS: Readonly<Record<Shell, (all: readonly Words[]) => string>> = { bash, zsh, fish }

/** Words contain only letters, digits, dashes and underscores, so no shell reads anything in them. */
const cases = (all: readonly Words[], variable = 'words'): string =>
  all.map(({ path, words }) => `    '${path}') ${variable}='${words.map(({ word }) => word).join(' ')}' ;;`).join('\n')

/** The command so far: the words before the cursor that are not options, as long as they name commands. */
function bash(all: readonly Words[]): string {
  return `# bash completion of postroad
_postroad_words() {
  local words=''
  case "$1" in
${cases(all)}
    *) return 1 ;;
  esac
  printf '%s' "$words"
}
_postroad() {
  local current="\${COMP_WORDS[COMP_CWORD]}" path='' next at
  for ((at = 1; at < COMP_CWORD; at++)); do
    [[ "\${COMP_WORDS[at]}" == -* ]] && continue
    next="\${path:+$path }\${COMP_WORDS[at]}"
    _postroad_words "$next" > /dev/null && path="$next"
  done
  COMPREPLY=($(compgen -W "$(_postroad_words "$path")" -- "$current"))
}
complete -o default -F _postroad postroad`
}

function zsh(all: readonly Words[]): string {
  return `#compdef postroad
_postroad_words() {
  local found=''
  case "$1" in
${cases(all, 'found')}
    *) return 1 ;;
  esac
  print -r -- "$found"
}
_postroad() {
  local path_='' next word
  for word in "\${(@)words[2,CURRENT-1]}"; do
    [[ "$word" == -* ]] && continue
    next="\${path_:+$path_ }$word"
    _postroad_words "$next" > /dev/null && path_="$next"
  done
  compadd -- \${=$(_postroad_words "$path_")} || _files
}
if [[ "\${funcstack[1]}" == _postroad ]]; then _postroad "$@"; else compdef _postroad postroad; fi`
}

function fish(all: readonly Words[]): string {
  const lines = all.flatMap(({ path, words }) =>
    words.map(({ word, help }) => {
      const note = help === '' ? '' : ` -d '${help.replaceAll(/['\\]/g, String.raw`\$&`).replaceAll('\n', ' ')}'`
      const what = word.startsWith('--') ? `-l ${word.slice(2)}` : `-a ${word}`
      return `complete -c postroad -n "__postroad_at '${path}'" ${what}${note}`
    }),
  )
  return `# fish completion of postroad
function __postroad_at
  set -l path ''
  for word in (commandline -opc)[2..]
    string match -q -- '-*' $word; and continue
    set -l next (string trim "$path $word")
    contains -- $next $__postroad_paths; and set path $next
  end
  test "$path" = "$argv[1]"
end
set -g __postroad_paths ${all
    .filter(({ path }) => path !== '')
    .map(({ path }) => `'${path}'`)
    .join(' ')}
complete -c postroad -f
${lines.join('\n')}`
}
