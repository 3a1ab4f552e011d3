// Checks the links and anchors of the built site, and that the files exist which it links to on GitHub. Prints
// the links to other sites, which it does not fetch.
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { Parser } from 'htmlparser2'

const REPOSITORY = fileURLToPath(new URL('..', import.meta.url))
const ROOT = join(REPOSITORY, 'docs/.vitepress/dist')
const SITE = new URL('https://headgate.github.io/headgate/')
const ON_GITHUB = /^https:\/\/github\.com\/headgate\/headgate\/(?:blob|edit|tree)\/main\/([^?#]*)/

const files = readdirSync(ROOT, { recursive: true, encoding: 'utf8' })
const pages = new Map(files.filter((file) => file.endsWith('.html')).map((file) => [file, read(file)]))
const links = [...pages].flatMap(([file, { links }]) => links.map((link) => ({ file, link })))

const broken = links.filter(({ file, link }) => !leadsSomewhere(urlOf(file, link)))
const others = links.map(({ file, link }) => urlOf(file, link).href).filter((url) => !isOurs(url))

for (const url of new Set(others)) console.log(`not fetched: ${url}`)
for (const { file, link } of broken) console.error(`${file}: ${link} leads nowhere`)
console.log(`${pages.size} pages, ${links.length} links, ${broken.length} broken`)
process.exitCode = broken.length > 0 || links.length === 0 ? 1 : 0

/** Returns the anchors of a page, and what it links to or loads. */
function read(file) {
  const ids = new Set()
  const links = []
  const onopentag = (_name, { id, href, src }) => {
    if (id !== undefined) ids.add(id)
    for (const link of [href, src]) if (link !== undefined && !link.startsWith('data:')) links.push(link)
  }
  new Parser({ onopentag }).end(readFileSync(join(ROOT, file), 'utf8'))
  return { ids, links }
}

/** Resolves a link as a browser does; the site serves `page.html` as `page`. */
function urlOf(file, link) {
  return new URL(link, new URL(file.replace(/(index)?\.html$/, ''), SITE))
}

function isOurs(url) {
  return url.startsWith(SITE.href) || ON_GITHUB.test(url)
}

function leadsSomewhere({ href, pathname, hash }) {
  const source = ON_GITHUB.exec(href)?.[1]
  if (source !== undefined) return existsSync(join(REPOSITORY, source))
  if (!isOurs(href)) return true
  const path = decodeURIComponent(pathname.slice(SITE.pathname.length))
  const page = [path, `${path}.html`, join(path, 'index.html')].find((each) => pages.has(each))
  if (page === undefined) return hash === '' && path !== '' && existsSync(join(ROOT, path))
  const anchor = decodeURIComponent(hash.slice(1))
  return anchor === '' || pages.get(page).ids.has(anchor)
}
