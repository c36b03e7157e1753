import {
  createContext,
  lazy,
  Suspense,
  useCallback,
  useContext,
  useEffect,
  useMemo,
  useState,
  type ReactElement,
  type ReactNode,
} from 'react'
import { loaded } from '../ui/loaded.ts'
import type { Command } from './command.ts'

type Palette = {
  readonly open: () => void
  /** The sheet of keys, which the palette can open. */
  readonly keys: { readonly isShown: boolean; readonly show: (isShown: boolean) => void }
  readonly add: (commands: readonly Command[]) => () => void
}

const PaletteContext = createContext<Palette>({
  open: () => undefined,
  keys: { isShown: false, show: () => undefined },
  add: () => () => undefined,
})
const PaletteWindow = lazy(() => loaded(() => import('./palette.tsx')))

export function usePalette(): Palette {
  return useContext(PaletteContext)
}

/** Adds commands to the palette while the component is there. Give a stable list, such as one from useMemo. */
export function useCommands(commands: readonly Command[]): void {
  const { add } = usePalette()
  useEffect(() => add(commands), [add, commands])
}

export function PaletteProvider({ children }: { readonly children: ReactNode }): ReactElement {
  const [isOpen, setOpen] = useState(false)
  const [hasKeys, showKeys] = useState(false)
  const [added, setAdded] = useState<readonly (readonly Command[])[]>([])
  const add = useCallback((commands: readonly Command[]) => {
    setAdded((before) => [...before, commands])
    return () => setAdded((before) => before.filter((one) => one !== commands))
  }, [])
  const palette = useMemo(
    () => ({ open: () => setOpen(true), keys: { isShown: hasKeys, show: showKeys }, add }),
    [add, hasKeys],
  )
  return (
    <PaletteContext value={palette}>
      {children}
      {isOpen && (
        <Suspense>
          <PaletteWindow commands={added.flat()} showKeys={() => showKeys(true)} onClose={() => setOpen(false)} />
        </Suspense>
      )}
    </PaletteContext>
  )
}
