import { fileURLToPath } from 'node:url'
import { slug } from 'github-slugger'
import { type DefaultTheme, defineConfig } from 'vitepress'
import { apiSidebars, readEntries } from './api-sidebar.js'
import { codeThemes } from './code-themes.js'
import { linkToRepository, SOURCE } from './links.js'
import { anchorOptionRows } from './option-rows.js'
import { describePage, previewTags } from './page-head.js'
import { checkGroups, GROUPS } from './pages.js'
import { followTheme } from './pictures.js'
import { SEARCH } from './search.js'

const BASE = '/headgate/'
const SITE = `https://headgate.github.io${BASE}`
const REPOSITORY = 'https://github.com/headgate/headgate'

const DOCS = fileURLToPath(new URL('..', import.meta.url))

/** Pages whose tables need the place of the outline. */
const WIDE = ['comparison.md', 'stores/index.md']

checkGroups(GROUPS, DOCS)

const guides: DefaultTheme.SidebarItem[] = GROUPS.map(({ text, pages }) => ({
  text,
  items: Object.entries(pages).map(([page, title]) => ({ text: title, link: `/${page}` })),
}))

export default defineConfig({
  title: 'headgate',
  description: 'Rate limiting for Node.js that stays exact under load and keeps limiting when Redis is down.',
  lang: 'en',
  base: BASE,
  cleanUrls: true,
  head: [
    ['link', { rel: 'icon', type: 'image/svg+xml', href: `${BASE}favicon.svg` }],
    ['meta', { name: 'theme-color', content: '#0f766e' }],
  ],
  vite: {
    build: { chunkSizeWarningLimit: 1500 }, // kB: the search index, which loads when a search begins
    server: { fs: { allow: ['..'] } }, // the policies and colors of the home page
  },
  sitemap: { hostname: SITE },
  markdown: {
    // GitHub's anchors, so that a link to a heading works on both.
    anchor: { slugify: (heading) => slug(heading) },
    languageAlias: { cjs: 'javascript' },
    theme: codeThemes(`${DOCS}/../examples/demo/page/style/tokens.css`),
    config(md) {
      linkToRepository(md)
      anchorOptionRows(md)
      followTheme(md, DOCS)
    },
  },
  transformPageData(pageData) {
    if (pageData.relativePath.startsWith('api/')) pageData.frontmatter.editLink = false // from doc comments
    if (WIDE.includes(pageData.relativePath)) pageData.frontmatter.aside = false
    describePage(pageData, DOCS)
  },
  transformHead: (context) => previewTags(context, SITE),
  themeConfig: {
    logo: '/favicon.svg',
    nav: [
      { text: 'Guides', link: '/getting-started', activeMatch: '^/(?!api/|migrating/|benchmarks)(?=.)' },
      { text: 'Migrate', link: '/migrating/', activeMatch: '^/migrating/' },
      { text: 'Benchmarks', link: '/benchmarks' },
      { text: 'API', link: '/api/', activeMatch: '^/api/' },
      { text: 'Changes', link: `${SOURCE}/CHANGELOG.md` },
    ],
    sidebar: { '/': guides, ...apiSidebars(readEntries()) },
    outline: { level: [2, 3] },
    externalLinkIcon: true,
    socialLinks: [{ icon: 'github', link: REPOSITORY }],
    editLink: { pattern: `${REPOSITORY}/edit/main/docs/:path`, text: 'Edit this page on GitHub' },
    search: SEARCH,
    notFound: { quote: 'There is no such page. The search finds pages by their words.', linkText: 'Home' },
    footer: { message: 'MIT license' },
  },
})
