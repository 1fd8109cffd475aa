import { ssrRenderAttrs } from "vue/server-renderer";
import { useSSRContext } from "vue";
import { _ as _export_sfc } from "./plugin-vue_export-helper.1tPrXgE0.js";
const __pageData = JSON.parse('{"title":"@owner-sso/token-store-memory","description":"","frontmatter":{},"headers":[],"relativePath":"packages/token-store-memory.md","filePath":"packages/token-store-memory.md"}');
const _sfc_main = { name: "packages/token-store-memory.md" };
function _sfc_ssrRender(_ctx, _push, _parent, _attrs, $props, $setup, $data, $options) {
  _push(`<div${ssrRenderAttrs(_attrs)}><h1 id="owner-ssotoken-store-memory" tabindex="-1">@owner-sso/token-store-memory <a class="header-anchor" href="#owner-ssotoken-store-memory" aria-label="Permalink to &quot;@owner-sso/token-store-memory&quot;">​</a></h1><p><strong>Token sets in the memory of one process.</strong></p><div class="language-sh vp-adaptive-theme"><button title="Copy Code" class="copy"></button><span class="lang">sh</span><pre class="shiki shiki-themes github-light-high-contrast github-dark-high-contrast vp-code" tabindex="0"><code><span class="line"><span style="--shiki-light:#702C00;--shiki-dark:#FFB757;">npm</span><span style="--shiki-light:#032563;--shiki-dark:#ADDCFF;"> install</span><span style="--shiki-light:#032563;--shiki-dark:#ADDCFF;"> @owner-sso/core</span><span style="--shiki-light:#032563;--shiki-dark:#ADDCFF;"> @owner-sso/token-store-memory</span></span></code></pre></div><div class="language-ts vp-adaptive-theme"><button title="Copy Code" class="copy"></button><span class="lang">ts</span><pre class="shiki shiki-themes github-light-high-contrast github-dark-high-contrast vp-code" tabindex="0"><code><span class="line"><span style="--shiki-light:#A0111F;--shiki-dark:#FF9492;">import</span><span style="--shiki-light:#0E1116;--shiki-dark:#F0F3F6;"> { createSso, createTokenManager } </span><span style="--shiki-light:#A0111F;--shiki-dark:#FF9492;">from</span><span style="--shiki-light:#032563;--shiki-dark:#ADDCFF;"> &#39;@owner-sso/core&#39;</span></span>
<span class="line"><span style="--shiki-light:#A0111F;--shiki-dark:#FF9492;">import</span><span style="--shiki-light:#0E1116;--shiki-dark:#F0F3F6;"> { memoryTokenStore } </span><span style="--shiki-light:#A0111F;--shiki-dark:#FF9492;">from</span><span style="--shiki-light:#032563;--shiki-dark:#ADDCFF;"> &#39;@owner-sso/token-store-memory&#39;</span></span>
<span class="line"></span>
<span class="line"><span style="--shiki-light:#A0111F;--shiki-dark:#FF9492;">const</span><span style="--shiki-light:#023B95;--shiki-dark:#91CBFF;"> sso</span><span style="--shiki-light:#A0111F;--shiki-dark:#FF9492;"> =</span><span style="--shiki-light:#622CBC;--shiki-dark:#DBB7FF;"> createSso</span><span style="--shiki-light:#0E1116;--shiki-dark:#F0F3F6;">({ authUrl: </span><span style="--shiki-light:#032563;--shiki-dark:#ADDCFF;">&#39;https://auth.example.com&#39;</span><span style="--shiki-light:#0E1116;--shiki-dark:#F0F3F6;"> })</span></span>
<span class="line"><span style="--shiki-light:#A0111F;--shiki-dark:#FF9492;">const</span><span style="--shiki-light:#023B95;--shiki-dark:#91CBFF;"> tokens</span><span style="--shiki-light:#A0111F;--shiki-dark:#FF9492;"> =</span><span style="--shiki-light:#622CBC;--shiki-dark:#DBB7FF;"> createTokenManager</span><span style="--shiki-light:#0E1116;--shiki-dark:#F0F3F6;">({ sso, store: </span><span style="--shiki-light:#622CBC;--shiki-dark:#DBB7FF;">memoryTokenStore</span><span style="--shiki-light:#0E1116;--shiki-dark:#F0F3F6;">() })</span></span></code></pre></div><p>Managers in the same process may share one store: one expiry is one refresh among them.</p><p>Its content ends with the process: every owner has to sign in again. For several processes, use <code>@owner-sso/token-store-file</code>, <code>-redis</code> or <code>-sql</code>. <code>copyTokenSets(from, to)</code> copies what is there.</p><p>Node 20.19+, 22.12+ or 24+, ES modules (<code>require()</code> works too). MIT.</p></div>`);
}
const _sfc_setup = _sfc_main.setup;
_sfc_main.setup = (props, ctx) => {
  const ssrContext = useSSRContext();
  (ssrContext.modules || (ssrContext.modules = /* @__PURE__ */ new Set())).add("packages/token-store-memory.md");
  return _sfc_setup ? _sfc_setup(props, ctx) : void 0;
};
const tokenStoreMemory = /* @__PURE__ */ _export_sfc(_sfc_main, [["ssrRender", _sfc_ssrRender]]);
export {
  __pageData,
  tokenStoreMemory as default
};
