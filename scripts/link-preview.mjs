// Draws docs/public/link-preview.png, the picture that chats and social networks show beside a link to the
// documentation: the logo, what headgate is, and one line of code, in the colors of its pages.
import { readFileSync, writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import sharp from 'sharp'
import { launchChromium } from './program.mjs'

const SIZE = { width: 1200, height: 630 } // what Open Graph recommends

process.chdir(fileURLToPath(new URL('..', import.meta.url)))
const tokens = readFileSync('examples/demo/page/style/tokens.css', 'utf8')
const font = readFileSync('examples/demo/page/style/inter.woff2', 'base64')
const logo = readFileSync('docs/public/favicon.svg', 'utf8')

const browser = await launchChromium()
try {
  const page = await browser.newPage({ viewport: SIZE })
  await page.setContent(html())
  await page.evaluate('document.fonts.ready')
  const png = await page.screenshot()
  writeFileSync(
    'docs/public/link-preview.png',
    await sharp(png).png({ palette: true, effort: 10 }).toBuffer(),
  )
} finally {
  await browser.close()
}

function html() {
  return `<!doctype html>
<style>
  ${tokens}
  @font-face { font-family: Inter; font-weight: 400 700; src: url(data:font/woff2;base64,${font}) }
  :root { color-scheme: dark; background: var(--paper); color: var(--ink); font-family: var(--sans) }
  body { box-sizing: border-box; height: 630px; margin: 0; padding: 76px 84px 0; border-top: 14px solid var(--brand) }
  header { display: flex; gap: 26px; align-items: center; font-size: 54px; font-weight: 700; letter-spacing: -0.03em }
  header svg { width: 84px }
  h1 { margin: 44px 0 18px; font-size: 76px; letter-spacing: -0.035em; line-height: 1.08; text-wrap: balance }
  p { margin: 0; color: var(--muted); font-size: 33px; font-weight: 500 }
  pre { display: inline-block; margin: 44px 0 0; padding: 22px 30px; border: 2px solid var(--line);
    border-radius: 16px; background: var(--card); font: 29px var(--mono) }
  b { color: var(--brand); font-weight: 400 }
  i { color: var(--green); font-style: normal }
</style>
<header>${logo} headgate</header>
<h1>Rate limiting for Node.js servers</h1>
<p>Exact under load. Keeps limiting when Redis is down.</p>
<pre>app.use(<b>rateLimit</b>({ limit: 100, window: <i>'1m'</i> }))</pre>`
}
