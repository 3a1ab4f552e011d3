import { SCENES } from '../tools/dashboard-scenes/scenes.js'
import { findings, isLive, PHONE, takePicture, WALL, WIDE } from './dashboard-page.js'
import { useScenes } from './dashboard-scene.js'

const open = useScenes()

const SIZES = { phone: PHONE, wide: WIDE, wall: WALL }
const ADDRESSES = [
  '#/',
  '#/limiter/FIRST',
  '#/limiter/FIRST?range=24h&yesterday=1',
  '#/events',
  '#/processes',
  '#/client?q=ada',
]

/** What a name of a limiter is in an address. */
const firstOf = (scene: string) => encodeURIComponent(SCENES[scene]?.(0).limiters[0]?.name ?? '')

describe.each(Object.keys(SCENES))('%s', (scene) => {
  test.each(Object.keys(SIZES) as (keyof typeof SIZES)[])(
    'axe finds nothing, and nothing overflows, on a %s',
    async (size) => {
      const { page, troubles } = await open(scene, { context: SIZES[size] })
      const found: string[] = []
      for (const [i, address] of ADDRESSES.entries()) {
        await page.goto(`${page.url().split('#')[0]}${address.replace('FIRST', firstOf(scene))}`)
        await isLive(page)
        await page.locator('main h1').first().waitFor({ state: 'attached' })
        for (const colorScheme of ['light', 'dark'] as const) {
          await page.emulateMedia({ colorScheme, reducedMotion: 'reduce' })
          found.push(...(await findings(page)).map((finding) => `${address} ${colorScheme}: ${finding}`))
          await takePicture(page, `${scene}-${i}-${size}-${colorScheme}`)
        }
        const width = await page.evaluate('document.documentElement.scrollWidth')
        if (width !== page.viewportSize()?.width) found.push(`${address} is ${width} pixels wide`)
      }
      expect(found).toEqual([])
      expect(troubles).toEqual([])
    },
  )
})

test('nothing shifts while all figures change', async () => {
  const { page } = await open('busy')
  const places = () =>
    page.evaluate(`Array.from(document.querySelectorAll('[data-limiter]')).slice(0, 12).map((row) =>
      [row, ...row.children].map((each) => {
        const { top, left, height } = each.getBoundingClientRect()
        return [each.className.baseVal ?? each.className, top, left, height].join(' ')
      }))`)
  const figures = () => page.locator('[data-limiter] .number').allTextContents()
  await page.locator('[data-limiter]').nth(100).waitFor({ state: 'attached' })
  await page.locator('[data-limiter]').first().hover() // the order is kept
  const [before, numbers] = [await places(), await figures()]
  const until = Date.now() + 60_000
  while ((await figures()).join() === numbers.join() && Date.now() < until) await page.waitForTimeout(100)
  expect((await figures()).join()).not.toBe(numbers.join())
  expect(await places()).toEqual(before)
})

test('a page that the server refuses says why, and goes on once it is let in', async () => {
  const { page } = await open('calm')
  const error = 'Too many pages are open. Close one of them.'
  await page.route('**/stream*', (route) => route.fulfill({ status: 503, json: { error } }))
  await page.goto(`${page.url().split('#')[0]}#/limiter/api`) // which opens another stream
  await page.locator('#connection', { hasText: `Disconnected since` }).waitFor()
  await page.locator('#connection', { hasText: error }).waitFor()
  await page.unroute('**/stream*')
  await isLive(page)
  await page.getByRole('heading', { name: 'api' }).waitFor()
})
