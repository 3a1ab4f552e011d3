import { readFileSync } from 'node:fs'
import type { RequestListener } from 'node:http'
import { resolve } from 'node:path'
import { type Answer, type Sent, send, serve } from '../../support/http.js'

const FOLDER = resolve(__dirname, '../../../docs/migrating')

/** Returns the items of the box "What changes in production" of a page: the bold words they begin with. */
export function itemsIn(name: string): string[] {
  const page = readFileSync(`${FOLDER}/${name}.md`, 'utf8')
  const [, box = ''] =
    /^> \[!IMPORTANT\]\n> \*\*What changes in production\*\*\n>\n((?:>.*\n)+)/m.exec(page) ?? []
  return Array.from(box.matchAll(/^> - \*\*(.+?)\*\*/gm), ([, item = '']) => item)
}

/** Declares a test for each item of a page's box, each of which shows the difference on both packages. */
export function testBox(name: string, tests: Readonly<Record<string, () => Promise<void> | void>>): void {
  describe(`in the box of ${name}`, () => {
    test.each(Object.entries(tests))('%s', (_, show) => show())

    test('no other item is untested', () => {
      expect(itemsIn(name)).toEqual(Object.keys(tests))
    })
  })
}

/** Sends one request after the other, the same each time. */
export async function sendTimes(
  count: number,
  listener: RequestListener,
  sent: Sent = {},
): Promise<Answer[]> {
  const target = await serve(listener)
  const answers: Answer[] = []
  for (let i = 0; i < count; i++) answers.push(await send(target, sent))
  return answers
}

/** The status and the type of the body of a denied request, by what the client accepts. */
export async function denialTo(
  accept: string,
  listener: RequestListener,
): Promise<[number, string | undefined]> {
  const answers = await sendTimes(2, listener, { headers: { accept } })
  const { status, headers } = answers[1] as Answer
  return [status, headers['content-type']?.replace(/;.*/, '')]
}

export const statusesOf = (answers: readonly Answer[]) => answers.map(({ status }) => status)
