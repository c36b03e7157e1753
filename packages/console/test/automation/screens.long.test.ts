import { onScreens, testScreens } from '../stage/screens.ts'

onScreens(() => undefined)

testScreens('light', 'automation')
testScreens('dark', 'automation')
