import { ssrRenderAttrs } from "vue/server-renderer";
import { useSSRContext } from "vue";
import { _ as _export_sfc } from "./plugin-vue_export-helper.1tPrXgE0.js";
const __pageData = JSON.parse('{"title":"What it runs with","description":"","frontmatter":{},"headers":[],"relativePath":"reference/supported-versions.md","filePath":"reference/supported-versions.md"}');
const _sfc_main = { name: "reference/supported-versions.md" };
function _sfc_ssrRender(_ctx, _push, _parent, _attrs, $props, $setup, $data, $options) {
  _push(`<div${ssrRenderAttrs(_attrs)}><h1 id="what-it-runs-with" tabindex="-1">What it runs with <a class="header-anchor" href="#what-it-runs-with" aria-label="Permalink to &quot;What it runs with&quot;">​</a></h1><p><code>npm run matrix</code> installs the packed packages into empty projects and signs in there. CI runs it every night and before each release. It also runs the <a href="./../guides/frameworks">recipes</a> for frameworks, bundlers and test runners.</p><table tabindex="0"><thead><tr><th></th><th>what is run</th><th></th></tr></thead><tbody><tr><td>Node.js</td><td>20.19.0, 20, 22.12.0, 22, 24</td><td><code>import</code> and <code>require()</code>; 20, 22 and 24 stand for the newest release of that line</td></tr><tr><td>Test runners</td><td>node:test, Vitest 4, Vitest 5, Jest (ES modules), Jest (CommonJS)</td><td></td></tr><tr><td>Express</td><td>4.18.0, 4, 5</td><td></td></tr><tr><td>Passport</td><td>0.6.0, 0.7</td><td></td></tr><tr><td>Frameworks</td><td>NestJS, Fastify, Koa</td><td></td></tr><tr><td>axios</td><td>axios 1.7.9, axios 1.12, axios 1</td><td></td></tr><tr><td>Redis clients</td><td>node-redis 5, node-redis 6, ioredis 5, ioredis 6</td><td></td></tr><tr><td>SQLite clients</td><td>better-sqlite3 12, libsql 0.5</td><td></td></tr><tr><td>Bundlers</td><td>esbuild, rollup, webpack, ncc</td><td>a bundle signs in from an empty folder</td></tr><tr><td>TypeScript</td><td>5.4, 5.5, 5.6, 5.7, 5.8, 5.9, 6.0, 7.0</td><td></td></tr><tr><td>@types/express</td><td>5, 4</td><td>the version that your application has</td></tr><tr><td>Package managers</td><td>npm, pnpm, Yarn (Plug’n’Play)</td><td></td></tr><tr><td>Other runtimes</td><td>Bun, Deno</td><td><code>ownerApiProxy</code> runs on Deno; on Bun it throws at construction</td></tr></tbody></table></div>`);
}
const _sfc_setup = _sfc_main.setup;
_sfc_main.setup = (props, ctx) => {
  const ssrContext = useSSRContext();
  (ssrContext.modules || (ssrContext.modules = /* @__PURE__ */ new Set())).add("reference/supported-versions.md");
  return _sfc_setup ? _sfc_setup(props, ctx) : void 0;
};
const supportedVersions = /* @__PURE__ */ _export_sfc(_sfc_main, [["ssrRender", _sfc_ssrRender]]);
export {
  __pageData,
  supportedVersions as default
};
