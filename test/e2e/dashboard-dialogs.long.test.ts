import { STATES } from '../tools/dashboard-scenes/dialogs.js'
import { findings, PHONE, takePicture, WIDE } from './dashboard-page.js'
import { useScenes } from './dashboard-scene.js'

const open = useScenes()
/** What a browser says of a response that a state needs. */
const EXPECTED = /the server responded with a status of (?:409|503)/

describe.each(Object.entries(STATES))('%s', (name, { scene, address, operator = 'ines', reach }) => {
  test.each([
    ['wide screen', WIDE],
    ['phone', PHONE],
  ])('axe finds nothing, and nothing overflows, on a %s', async (size, context) => {
    const { page, troubles } = await open(scene, { address, operator, context })
    await page.locator('main h1').first().waitFor({ state: 'attached' })
    await reach?.(page)
    const found: string[] = []
    for (const colorScheme of ['light', 'dark'] as const) {
      await page.emulateMedia({ colorScheme, reducedMotion: 'reduce' })
      found.push(...(await findings(page)).map((finding) => `${colorScheme}: ${finding}`))
      await takePicture(page, `state-${name}-${size.replace(' ', '-')}-${colorScheme}`)
    }
    const overflowing =
      await page.evaluate(`Array.from(document.querySelectorAll('html, dialog')).flatMap((each) =>
      each.scrollWidth > each.clientWidth ? [each.localName + ' is ' + each.scrollWidth + ' pixels wide'] : [])`)
    expect([...found, ...(overflowing as string[])]).toEqual([])
    expect(troubles.filter((text) => !EXPECTED.test(text))).toEqual([])
  })
})
