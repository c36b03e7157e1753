import { onScreens, testScreens } from '../stage/screens.ts'

onScreens(() => undefined)

testScreens('other')
