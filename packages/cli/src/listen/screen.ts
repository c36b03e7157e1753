import { io, type Io } from '../io.ts'
import { isAnswer } from './forward.ts'
import type { Forwarded } from './heard.ts'
import { noteText } from './lines.ts'
import type { View } from './listener.ts'
import { detailLines, screenLines, type Screen } from './screen-text.ts'

/** Events that can be selected and sent again. Older ones leave the screen; the server still has them. */
const EVENTS_MAX = 500
const BYTES_MAX = 33_554_432
const DRAW_MS = 50
const ENTER_SCREEN = '\u001b[?1049h\u001b[?25l'
const LEAVE_SCREEN = '\u001b[?25h\u001b[?1049l'
const HOME = '\u001b[H'
const CLEAR_LINE = '\u001b[K'

type Actions = { readonly resend: (event: Forwarded) => Promise<void>; readonly stop: () => void }

/** The whole terminal: a list, the details of one event, and keys. `close` always restores the terminal. */
export class ScreenView implements View {
  readonly #io: Io = io()
  readonly #target: URL
  #actions: Actions | undefined
  readonly #events: Forwarded[] = []
  #screen: Omit<Screen, 'events'>
  #timer: NodeJS.Timeout | undefined
  #bytes = 0
  #closed = false

  constructor(target: URL, title: string) {
    this.#target = target
    this.#screen = {
      selected: 0,
      follows: true,
      open: false,
      scroll: 0,
      title,
      note: 'Connecting…',
      counts: { answered: 0, failed: 0, dropped: 0 },
    }
  }

  begin(actions: Actions): void {
    this.#actions = actions
    const { stdin, stdout } = this.#io
    process.once('exit', this.close)
    stdout.write(ENTER_SCREEN)
    setRaw(stdin, true)
    stdin.setEncoding('utf8')
    stdin.on('data', this.#onKeys)
    stdout.on('resize', this.#soon)
    this.#draw()
  }

  readonly close = (): void => {
    if (this.#closed) return
    this.#closed = true
    clearTimeout(this.#timer)
    const { stdin, stdout } = this.#io
    stdin.off('data', this.#onKeys)
    stdout.off('resize', this.#soon)
    setRaw(stdin, false)
    stdin.pause()
    stdout.write(LEAVE_SCREEN)
    process.off('exit', this.close)
  }

  readonly arrived = (event: Forwarded): void => {
    if (this.#events.includes(event)) return this.#soon()
    this.#events.push(event)
    this.#bytes += event.out.body.length
    let dropped = 0
    while (this.#events.length > EVENTS_MAX || (this.#bytes > BYTES_MAX && this.#events.length > 1)) {
      this.#bytes -= this.#events.shift()?.out.body.length ?? 0
      dropped += 1
    }
    const { follows, selected, open } = this.#screen
    const stays = Math.max(0, selected - dropped)
    this.#change({ selected: follows && !open ? this.#events.length - 1 : stays })
  }

  readonly answered = ({ result }: Forwarded): void => {
    const { counts } = this.#screen
    const failed = result === undefined || !isAnswer(result) || result.status >= 400
    this.#change({ counts: { ...counts, answered: counts.answered + 1, failed: counts.failed + (failed ? 1 : 0) } })
  }

  readonly note: View['note'] = (note) => {
    this.#change({ note: noteText(note, this.#target) })
  }

  readonly #onKeys = (keys: string): void => {
    // An arrow is three characters, and a terminal can send several keys together.
    // oxlint-disable-next-line no-control-regex -- these are the characters of the keys
    for (const key of keys.match(/\u001b\[[\d;]*[A-Za-z~]|[^]/gu) ?? []) this.#onKey(key)
  }

  #onKey(key: string): void {
    const { open } = this.#screen
    if (key === 'q' || key === '\u0003') return this.#actions?.stop()
    if (key === 'r') return this.#resend()
    if (open) return this.#onDetailKey(key)
    if (key === '\r' || key === '\n' || key === 'd') return this.#change({ open: this.#events.length > 0, scroll: 0 })
    const to = LIST_MOVES[key]
    if (to !== undefined) this.#select(to(this.#screen.selected, this.#events.length))
  }

  #onDetailKey(key: string): void {
    if (key === '\u001b' || key === '\r' || key === 'd' || key === '\u007f') return this.#change({ open: false })
    const event = this.#events[this.#screen.selected]
    const by = DETAIL_MOVES[key]
    if (event === undefined || by === undefined) return
    const last = Math.max(0, detailLines(event).length - 1)
    this.#change({ scroll: Math.max(0, Math.min(last, this.#screen.scroll + by)) })
  }

  #select(at: number): void {
    const last = Math.max(0, this.#events.length - 1)
    const selected = Math.max(0, Math.min(last, at))
    this.#change({ selected, follows: selected === last })
  }

  #resend(): void {
    const event = this.#events[this.#screen.selected]
    if (event === undefined || event.result === undefined) return
    void this.#actions?.resend(event)
  }

  #change(to: Partial<Screen>): void {
    this.#screen = { ...this.#screen, ...to }
    this.#soon()
  }

  readonly #soon = (): void => {
    if (this.#closed) return
    this.#timer ??= setTimeout(() => this.#draw(), DRAW_MS)
  }

  #draw(): void {
    this.#timer = undefined
    if (this.#closed) return
    const { stdout } = this.#io
    const size = { columns: stdout.columns ?? 80, rows: stdout.rows ?? 24 }
    const lines = screenLines({ ...this.#screen, events: this.#events }, size)
    stdout.write(HOME + lines.map((line) => `${line}${CLEAR_LINE}`).join('\r\n'))
  }
}

const LIST_MOVES: Readonly<Record<string, (at: number, count: number) => number>> = {
  '\u001b[A': (at) => at - 1,
  k: (at) => at - 1,
  '\u001b[B': (at) => at + 1,
  j: (at) => at + 1,
  '\u001b[5~': (at) => at - 10,
  '\u001b[6~': (at) => at + 10,
  '\u001b[H': () => 0,
  g: () => 0,
  '\u001b[F': (_at, count) => count - 1,
  G: (_at, count) => count - 1,
}

const DETAIL_MOVES: Readonly<Record<string, number>> = {
  '\u001b[A': -1,
  k: -1,
  '\u001b[B': 1,
  j: 1,
  '\u001b[5~': -10,
  '\u001b[6~': 10,
}

function setRaw(stdin: Io['stdin'], raw: boolean): void {
  stdin.setRawMode?.(raw)
}
