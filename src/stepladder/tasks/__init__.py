"""Problems for language models: generated, asked, hinted and judged safely. `tasks.task` has the interface."""
