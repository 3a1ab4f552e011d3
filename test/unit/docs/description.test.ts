import { readFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { descriptionOf } from '../../../docs/.vitepress/description.js'
import { GROUPS } from '../../../docs/.vitepress/pages.js'

const DOCS = resolve(__dirname, '../../../docs')

test('is the first paragraph without its marks', () => {
  const page = `---
title: "**no**"
---

# A title

<!-- with: app -->
\`\`\`ts
const code = 'not this'
\`\`\`

Limits **requests** with \`rateLimit\`, as
[policies](policies.md#a) say:

Not this.`
  expect(descriptionOf(page)).toBe('Limits requests with rateLimit, as policies say.')
})

test.each([
  ['a heading', '# A title\n\n## Another'],
  ['a list', '# A title\n\n- One\n- Two'],
  ['a table', '# A title\n\n| a | b |\n|---|---|'],
  ['nothing', ''],
])('a page of %s has none', (_, page) => {
  expect(descriptionOf(page)).toBeUndefined()
})

test('has whole sentences, as many as there is room for, or the words of one', () => {
  const sentence = `Some ${'word '.repeat(16)}end.` // 89 characters
  expect(descriptionOf(`${sentence} ${sentence} ${sentence}`)).toBe(`${sentence} ${sentence}`)
  const words = descriptionOf(`Some ${'word '.repeat(100)}end.`)
  expect(words).toMatch(/^Some (word )+word…$/)
  expect(words?.length).toBeLessThanOrEqual(200)
})

test('leaves out a sentence that introduces what follows', () => {
  expect(descriptionOf('This is a page. It has, in short:\n\n- A list')).toBe('This is a page.')
  expect(descriptionOf('It has, in short:\n\n- A list')).toBe('It has, in short.')
})

test('every guide with text has one that is more than a few words', () => {
  const pages = GROUPS.flatMap((group) => Object.keys(group.pages))
  const texts = pages.map((page) =>
    readFileSync(join(DOCS, `${page}${page.endsWith('/') ? 'index' : ''}.md`), 'utf8'),
  )
  const written = texts.filter((text) => text.length > 200)
  expect(written.length).toBeGreaterThan(20)
  expect(written.filter((text) => (descriptionOf(text) ?? '').length < 40)).toEqual([])
})
