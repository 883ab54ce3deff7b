// The site of the documents: every page of docs/, in the order of docs/README.md, with a
// search that runs in the browser. Links to files outside docs/ lead to the repository.
import { readFileSync } from 'node:fs'
import { dirname, join, normalize } from 'node:path'
import { fileURLToPath } from 'node:url'
import { defineConfig } from 'vitepress'

const repository = 'https://github.com/failaware/failaware'
const docs = fileURLToPath(new URL('../../docs', import.meta.url))

interface Entry { text: string; link: string }

// sidebar reads the headings and lists of docs/README.md: a heading is a group, and each
// link to a page is an entry.
function sidebar() {
  const groups: { text: string; collapsed: boolean; items: Entry[] }[] = []
  for (const line of readFileSync(join(docs, 'README.md'), 'utf8').split('\n')) {
    if (line.startsWith('## ')) {
      groups.push({ text: line.slice(3), collapsed: false, items: [] })
    }
    for (const [, text, link] of line.matchAll(/\[([^\]]+)\]\(([^)]+\.md)\)/g)) {
      const to = '/' + link.replace(/\.md$/, '')
      const items = groups.at(-1)?.items
      if (items && !link.startsWith('../') && !items.some((e) => e.link === to)) {
        items.push({ text: text[0].toUpperCase() + text.slice(1).replaceAll('`', ''), link: to })
      }
    }
  }
  return groups
}

// outside returns where in the repository a link of a page leads that leaves docs/, or nothing.
function outside(page: string, href: string): string | undefined {
  if (/^[a-z]+:|^#|^\//.test(href)) {
    return undefined
  }
  const [path, anchor] = href.split('#')
  const target = normalize(join('docs', dirname(page), path))
  if (target.startsWith('docs/') && /\.(md|svg|png)$/.test(target)) {
    return undefined
  }
  return repository + '/blob/main/' + target + (anchor ? '#' + anchor : '')
}

export default defineConfig({
  title: 'failaware',
  description: 'Groups that go on in every part of a split network, and know when an answer no longer holds',
  srcDir: 'pages', // a copy of docs/, so that the modules of this folder are found
  outDir: '../bin/site',
  cleanUrls: false,
  head: [['link', { rel: 'icon', href: 'data:,' }]],
  rewrites: { 'README.md': 'index.md' },
  themeConfig: {
    search: {
      provider: 'local',
      // The table of planted bugs has every word, and would come first for all of them.
      options: { _render: (src, env, md) => (env.relativePath === 'mutants.md' ? '' : md.render(src, env)) },
    },
    sidebar: sidebar(),
    outline: [2, 3],
    socialLinks: [{ icon: 'github', link: repository }],
  },
  markdown: {
    config: (md) => {
      // Words in angle brackets and double braces are text, and no parts of a program;
      // http://HOST:PORT is no link.
      md.set({ html: false, linkify: false })
      for (const rule of ['text', 'code_inline'] as const) {
        const plain = md.renderer.rules[rule]!
        md.renderer.rules[rule] = (...args) => plain(...args).replaceAll('{{', '&#123;&#123;')
      }
      // Indented blocks look like blocks between fences, and scroll within the page.
      md.core.ruler.push('indented', (state) => {
        for (const token of state.tokens) {
          if (token.type === 'code_block') {
            Object.assign(token, { type: 'fence', info: 'text' })
          }
        }
      })
      const open = md.renderer.rules.link_open!
      md.renderer.rules.link_open = (tokens, i, options, env, self) => {
        const href = tokens[i].attrGet('href') ?? ''
        const to = outside(env.relativePath ?? '', href)
        if (to) {
          tokens[i].attrSet('href', to)
        }
        return open(tokens, i, options, env, self)
      }
    },
  },
})
